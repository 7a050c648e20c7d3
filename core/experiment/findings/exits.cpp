// Early exits: what a run with all layers says of each, and two runs measured against each other.
#include "core/model/exits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/chosen.h"
#include "core/experiment/exit_study.h"
#include "core/experiment/finding.h"
#include "core/experiment/runner.h"
#include "core/model/exit_oracle.h"
#include "core/model/logit_lens.h"

namespace attnscope {

namespace {

constexpr const char* kView = "depth";
constexpr double kUsualThreshold = 0.3;  // of the view's parameter

// The same with every token passing all layers; nothing where the model has no exits.
std::optional<Experiment> with_all_layers(const Experiment& experiment, ExperimentRun& run) {
  Experiment all = experiment;
  all.others.clear();
  all.exit.reset();
  const ModelConfig config =
      structured(run.checkpoint(experiment)->model.config, experiment.structure);
  if (!config.exits) return std::nullopt;
  return all;
}

// The ids that stand one place later, -1 for the last.
IntTensor next_ids(const std::vector<TraceToken>& tokens) {
  IntTensor next({static_cast<Index>(tokens.size())});
  for (Index i = 0; i < next.size(); ++i) {
    next[i] = i + 1 < next.size() ? tokens[static_cast<std::size_t>(i + 1)].id : -1;
  }
  return next;
}

// Which layer should have predicted, by the words of the rule that was trained; without layers yet.
OracleInput oracle_of(const Choice& rule, const IntTensor& targets) {
  OracleInput input{.targets = targets, .length = targets.size()};
  input.by_sequence = exit_rule(rule.id).distribution_at == 0;
  input.correctness = rule.values.choice("oracle") == "correctness";
  input.lambda = rule.values.real("lambda");
  input.sigma = rule.values.real("sigma");
  return input;
}

ExitStudy study_of(const Model& model, const Trace& trace, const Stop& stop) {
  ExitStudy study;
  study.rule = *model.config.exits;
  const Exits& rule = exit_rule(study.rule.id);
  if (const auto sure = trace.taps.find("exit.confidence"); sure != trace.taps.end()) {
    study.confidence = sure->second;
  }
  if (const auto q = trace.taps.find("exit.distribution"); q != trace.taps.end()) {
    study.distribution = q->second;
  }
  const Index layers = model.config.layers, length = trace.logits.dim(0);
  study.guess = IntTensor({layers, length});
  study.probability = Tensor({layers, length});
  study.has_oracle = rule.distribution_at >= 0 || rule.makes_distribution;
  OracleInput oracle;
  if (study.has_oracle) oracle = oracle_of(study.rule, next_ids(trace.tokens));
  for (Index n = 0; n < layers; ++n) {
    stop.check();
    const Tensor of_layer = layer_logits(model, trace, n, stop);  // [L, vocabulary]
    const Tensor logs = log_softmax(Var(of_layer)).value();
    const std::vector<std::int32_t> guesses = likeliest_rows(of_layer);
    for (Index i = 0; i < length; ++i) {
      const std::int32_t guess = guesses[static_cast<std::size_t>(i)];
      study.guess(n, i) = guess;
      study.probability(n, i) = std::exp(logs(i, guess));
    }
    if (study.has_oracle) oracle.add_layer(of_layer);
  }
  if (study.has_oracle) {
    const IntTensor best = oracle_layers(oracle);
    study.oracle.assign(best.begin(), best.end());
  }
  return study;
}

// Bits a token of the text, in the mean.  logits: [1, L, vocabulary]
double bits_of(const Tensor& logits, const IntTensor& targets) {
  const Index length = logits.dim(1), vocabulary = logits.dim(2);
  const Tensor logs = log_softmax(Var(logits.reshaped({length, vocabulary}))).value();
  double sum = 0;
  Index count = 0;
  for (Index i = 0; i < length; ++i) {
    if (targets[i] < 0) continue;
    sum -= static_cast<double>(logs(i, targets[i])) / std::log(2.0);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

// In turns, since a machine is not always equally fast; the least time is the one that nothing
// else disturbed.
ExitWork work_of(const Experiment& all, const Experiment& early, ExperimentRun& run,
                 const FindingProgress& progress, const Stop& stop) {
  constexpr int kFewest = 5, kMost = 15;
  constexpr double kEnough = 250;  // milliseconds for both together
  ExitWork work;
  ExperimentRun::Bare of_all, of_early;
  double spent = 0;
  work.all.milliseconds = work.early.milliseconds = std::numeric_limits<double>::infinity();
  for (int n = 0; n < kMost && (n < kFewest || spent < kEnough); ++n) {
    of_all = run.run_bare(all, stop);
    of_early = run.run_bare(early, stop);
    spent += of_all.milliseconds + of_early.milliseconds;
    work.all.milliseconds = std::min(work.all.milliseconds, of_all.milliseconds);
    work.early.milliseconds = std::min(work.early.milliseconds, of_early.milliseconds);
    if (progress) progress(static_cast<std::size_t>(n + 1), static_cast<std::size_t>(kMost));
  }
  work.all.multiply_adds = of_all.work.multiply_adds;
  work.early.multiply_adds = of_early.work.multiply_adds;
  const Tensor &full = of_all.output.logits.value(), &cut = of_early.output.logits.value();
  const Index length = full.dim(1), vocabulary = full.dim(2);
  const auto last = likeliest_rows(full.reshaped({length, vocabulary}));
  const auto then = likeliest_rows(cut.reshaped({length, vocabulary}));
  for (Index i = 0; i < length; ++i) {
    const auto at = static_cast<std::size_t>(i);
    work.left.push_back(of_early.output.exits[i] - 1);
    work.agrees.push_back(then[at] == last[at]);
  }
  const IntTensor targets = next_ids(run.run(all, stop)->tokens);
  work.all.bits = bits_of(full, targets);
  work.early.bits = bits_of(cut, targets);
  return work;
}

// The rule with this decay, where its threshold falls at all.
std::optional<Choice> with_decay(const ModelConfig& config, std::optional<double> decay) {
  if (!decay || !exit_rule(config.exits->id).decays) return std::nullopt;
  Choice rule = *config.exits;
  rule.values.set("decay", *decay);
  return rule;
}

}  // namespace

double decay_of(const Choice& rule) {
  return exit_rule(rule.id).decays ? rule.values.real("decay") : 0;
}

double ExitStudy::threshold_of(Index token, double threshold, double decay) const {
  if (decay == 0 || !exit_rule(rule.id).decays) return threshold;
  const auto t = static_cast<double>(token), all = static_cast<double>(length());
  return std::clamp(0.9 * threshold + 0.1 * std::exp(-decay * t / all), 0.0, 1.0);
}

std::vector<Index> ExitStudy::leaves_at(double threshold, double decay) const {
  std::vector<Index> left(static_cast<std::size_t>(length()), layers() - 1);
  for (Index i = 0; i < length(); ++i) {
    Index& at = left[static_cast<std::size_t>(i)];
    if (!has_threshold()) {  // the likeliest by q, of equals the first
      at = 0;
      for (Index n = 1; n < layers(); ++n) {
        if (distribution(i, n) > distribution(i, at)) at = n;
      }
      continue;
    }
    const double needed = threshold_of(i, threshold, decay);
    for (Index n = layers() - 2; n >= 0; --n) {
      if (static_cast<double>(confidence(n, i)) >= needed) at = n;
    }
  }
  return left;
}

double ExitWork::agreement() const {
  return static_cast<double>(std::ranges::count(agrees, true)) / static_cast<double>(agrees.size());
}

double ExitWork::mean_layers() const {
  double sum = 0;
  for (const Index layer : left) sum += static_cast<double>(layer + 1);
  return sum / static_cast<double>(left.size());
}

std::optional<ExitWish> exit_wish(const Experiment& experiment) {
  if (experiment.view.id != kView) return std::nullopt;
  ExitWish wish{kUsualThreshold};
  const auto options = experiment.view.options.find(kView);
  if (options != experiment.view.options.end()) {
    const Values& values = options->second;
    if (values.has("threshold")) wish.threshold = values.real("threshold");
    if (values.has("decay")) wish.decay = values.real("decay");
  }
  if (experiment.exit) wish.threshold = *experiment.exit;
  return wish;
}

namespace {

bool asks_for_exits(const Experiment& e) {
  return exit_wish(e) && e.tensors.file.empty();
}

// All layers are made whatever the threshold.
bool same_but_for_exit(const Experiment& before, const Experiment& now) {
  Experiment one = before;
  one.exit = now.exit;
  one.others = now.others;
  return same_run(one, now);
}

}  // namespace

Finding exits_finding() {
  return {.id = Findings::exits.id,
          .summary = "How sure a model with exits is behind each layer, and the oracle's choice.",
          .exists = asks_for_exits,
          .holds = same_but_for_exit,
          .beside_runs = [](const Experiment& experiment, ExperimentRun& run,
                            const FindingProgress&, const Stop& stop, Findings& results) {
            const std::optional<Experiment> all = with_all_layers(experiment, run);
            if (!all) return;
            const std::shared_ptr<const Trace> trace = run.run(*all, stop);
            const Model model = chosen_model(run.checkpoint(*all)->model, *all,
                                             static_cast<Index>(trace->tokens.size()));
            results.set(Findings::exits,
                        std::make_shared<const ExitStudy>(study_of(model, *trace, stop)));
          }};
}

Finding exit_work_finding() {
  return {.id = Findings::exit_work.id,
          .summary = "What leaving early really saves: two runs, measured.",
          .exists = asks_for_exits,
          .holds =
              [](const Experiment& before, const Experiment& now) {
                return same_but_for_exit(before, now) && exit_wish(before) == exit_wish(now);
              },
          .beside_runs =
              [](const Experiment& experiment, ExperimentRun& run, const FindingProgress& progress,
                 const Stop& stop, Findings& results) {
                const std::optional<Experiment> all = with_all_layers(experiment, run);
                if (!all) return;
                const ExitWish wish = *exit_wish(experiment);
                const ModelConfig config =
                    structured(run.checkpoint(*all)->model.config, all->structure);
                Experiment early = *all;
                early.exit = wish.threshold;
                if (const auto rule = with_decay(config, wish.decay)) early.structure.exits = rule;
                ExitWork work = work_of(*all, early, run, progress, stop);
                work.threshold = wish.threshold;
                work.decay = wish.decay.value_or(decay_of(*config.exits));
                results.set(Findings::exit_work, std::make_shared<const ExitWork>(std::move(work)));
              }};
}

}  // namespace attnscope
