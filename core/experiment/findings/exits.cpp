// Findings "exits" and "exit_work": confidence after each layer of a full run, and a measured
// comparison of two runs.
#include "core/model/exits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/autodiff/operations_reduce.h"
#include "core/base/stop.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/exit_study.h"
#include "core/experiment/finding.h"
#include "core/experiment/run.h"
#include "core/model/exit_oracle.h"
#include "core/model/logit_lens.h"

namespace attnscope {
namespace {

// The run without early exits; nullopt if the model has no exits.
std::optional<RunSpec> with_all_layers(const RunSpec& spec, ExperimentRun& run) {
  RunSpec result = spec;
  result.exit.reset();
  const ModelConfig config = apply_structure(run.checkpoint(spec)->model.config, spec.structure);
  if (!config.exits) return std::nullopt;
  return result;
}

// Id of the token that follows each token; -1 for the last token.
IntTensor next_ids(const std::vector<TraceToken>& tokens) {
  IntTensor next({static_cast<Index>(tokens.size())});
  for (Index i = 0; i < next.size(); ++i) {
    next[i] = i + 1 < next.size() ? tokens[static_cast<std::size_t>(i + 1)].id : -1;
  }
  return next;
}

// Oracle input with the parameters of the trained rule; add_layer() then adds each layer.
OracleInput make_oracle_input(const Choice& rule, const IntTensor& targets) {
  OracleInput input{.targets = targets, .length = targets.size()};
  input.is_per_sequence = exit_rule(rule.id).distribution_at == 0;
  input.scores_correctness = rule.values.choice("oracle") == "correctness";
  input.lambda = rule.values.real("lambda");
  input.sigma = rule.values.real("sigma");
  return input;
}

ExitStudy study_exits(const Model& model, const Trace& trace) {
  ExitStudy study;
  study.rule = *model.config.exits;
  const ExitRule& rule = exit_rule(study.rule.id);
  if (const auto tap = trace.taps.find("exit.confidence"); tap != trace.taps.end()) {
    study.confidence = tap->second;
  }
  if (const auto q = trace.taps.find("exit.distribution"); q != trace.taps.end()) {
    study.distribution = q->second;
  }
  const Index layers = model.config.layers, length = trace.logits.dim(0);
  study.guess = IntTensor({layers, length});
  study.probability = Tensor({layers, length});
  study.has_oracle = rule.distribution_at >= 0 || rule.makes_distribution;
  OracleInput oracle;
  if (study.has_oracle) oracle = make_oracle_input(study.rule, next_ids(trace.tokens));
  for (Index n = 0; n < layers; ++n) {
    check_stop();
    const Tensor logits = layer_logits(model, trace, n);  // [L, vocabulary]
    const Tensor log_p = log_softmax(Var(logits)).value();
    const std::vector<std::int32_t> guesses = row_argmax(logits);
    for (Index i = 0; i < length; ++i) {
      const std::int32_t guess = guesses[static_cast<std::size_t>(i)];
      study.guess(n, i) = guess;
      study.probability(n, i) = std::exp(log_p(i, guess));
    }
    if (study.has_oracle) oracle.add_layer(logits);
  }
  if (study.has_oracle) {
    const IntTensor best = oracle_layers(oracle);
    study.oracle.assign(best.begin(), best.end());
  }
  return study;
}

// Mean bits per token of the text.  logits: [1, L, vocabulary]
double bits_per_token(const Tensor& logits, const IntTensor& targets) {
  const Index length = logits.dim(1), vocabulary = logits.dim(2);
  const Tensor log_p = log_softmax(Var(logits.reshaped({length, vocabulary}))).value();
  double sum = 0;
  Index count = 0;
  for (Index i = 0; i < length; ++i) {
    if (targets[i] < 0) continue;
    sum -= static_cast<double>(log_p(i, targets[i])) / std::log(2.0);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

// Alternates the runs because the speed of a machine varies. Reports minimum times because they
// depend least on other processes.
ExitWork measure_work(const RunSpec& full_spec, const RunSpec& early_spec, ExperimentRun& run,
                      const FindingProgress& progress) {
  constexpr int kMinRuns = 5, kMaxRuns = 15;
  constexpr double kMinTotalTime = 250;  // milliseconds of all runs
  ExitWork work;
  ExperimentRun::InferenceOnly full_result, early_result;
  double total_time = 0;
  work.all.milliseconds = work.early.milliseconds = std::numeric_limits<double>::infinity();
  for (int n = 0; n < kMaxRuns && (n < kMinRuns || total_time < kMinTotalTime); ++n) {
    full_result = run.run_inference_only(full_spec);
    early_result = run.run_inference_only(early_spec);
    total_time += full_result.milliseconds + early_result.milliseconds;
    work.all.milliseconds = std::min(work.all.milliseconds, full_result.milliseconds);
    work.early.milliseconds = std::min(work.early.milliseconds, early_result.milliseconds);
    if (progress) progress(static_cast<std::size_t>(n + 1), static_cast<std::size_t>(kMaxRuns));
  }
  work.all.multiply_adds = full_result.work.multiply_adds;
  work.early.multiply_adds = early_result.work.multiply_adds;
  const Tensor &full_logits = full_result.output.logits.value(),
               &early_logits = early_result.output.logits.value();
  const Index length = full_logits.dim(1), vocabulary = full_logits.dim(2);
  const auto full_guesses = row_argmax(full_logits.reshaped({length, vocabulary}));
  const auto early_guesses = row_argmax(early_logits.reshaped({length, vocabulary}));
  for (Index i = 0; i < length; ++i) {
    const auto row = static_cast<std::size_t>(i);
    work.exit_layers.push_back(early_result.output.exits[i] - 1);
    work.agrees.push_back(early_guesses[row] == full_guesses[row]);
  }
  const IntTensor targets = next_ids(run.run(full_spec)->tokens);
  work.all.bits = bits_per_token(full_logits, targets);
  work.early.bits = bits_per_token(early_logits, targets);
  return work;
}

// The exit rule with this decay; nullopt if `decay` is nullopt or the rule's threshold is constant.
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
  const auto t = static_cast<double>(token), count = static_cast<double>(length());
  return std::clamp(0.9 * threshold + 0.1 * std::exp(-decay * t / count), 0.0, 1.0);
}

std::vector<Index> ExitStudy::exit_layers_at(double threshold, double decay) const {
  std::vector<Index> exits(static_cast<std::size_t>(length()), layers() - 1);
  for (Index i = 0; i < length(); ++i) {
    Index& exit = exits[static_cast<std::size_t>(i)];
    if (!has_threshold()) {  // arg max of the distribution; ties: lowest layer
      exit = 0;
      for (Index n = 1; n < layers(); ++n) {
        if (distribution(i, n) > distribution(i, exit)) exit = n;
      }
      continue;
    }
    const double required = threshold_of(i, threshold, decay);
    for (Index n = layers() - 2; n >= 0; --n) {
      if (static_cast<double>(confidence(n, i)) >= required) exit = n;
    }
  }
  return exits;
}

double ExitWork::agreement() const {
  return static_cast<double>(std::ranges::count(agrees, true)) / static_cast<double>(agrees.size());
}

double ExitWork::mean_layers() const {
  double sum = 0;
  for (const Index layer : exit_layers) sum += static_cast<double>(layer + 1);
  return sum / static_cast<double>(exit_layers.size());
}

namespace {

bool has_model(const Session& session) {
  return session.run.tensors.file.empty();
}

// True if two runs differ at most in the exit threshold, which the findings override.
bool differs_in_exit_only(const RunSpec& previous, const RunSpec& current) {
  RunSpec adapted = previous;
  adapted.exit = current.exit;
  return adapted == current;
}

}  // namespace

Finding exits_finding() {
  return {.id = Findings::exits.id,
          .summary = "Early-exit confidence after each layer, and the oracle's exit layers.",
          .exists = has_model,
          .is_reusable = differs_in_exit_only,
          .in_background = [](const RunSpec& spec, const FindingSettings&, ExperimentRun& run,
                              const FindingProgress&, Findings& results) {
            const std::optional<RunSpec> full_spec = with_all_layers(spec, run);
            if (!full_spec) return;
            const std::shared_ptr<const Trace> trace = run.run(*full_spec);
            const Model model = effective_model(run.checkpoint(*full_spec)->model, *full_spec,
                                                static_cast<Index>(trace->tokens.size()));
            results.set(Findings::exits,
                        std::make_shared<const ExitStudy>(study_exits(model, *trace)));
          }};
}

Finding exit_work_finding() {
  return {
      .id = Findings::exit_work.id,
      .summary = "Measured savings of early exits: two runs.",
      .exists = has_model,
      .is_reusable = differs_in_exit_only,
      .in_background = [](const RunSpec& spec, const FindingSettings& settings, ExperimentRun& run,
                          const FindingProgress& progress, Findings& results) {
        const std::optional<RunSpec> full_spec = with_all_layers(spec, run);
        if (!full_spec) return;
        const auto& [threshold, decay] = std::get<ExitSettings>(settings);
        const ModelConfig config =
            apply_structure(run.checkpoint(*full_spec)->model.config, full_spec->structure);
        RunSpec early_spec = *full_spec;
        early_spec.exit = threshold;
        if (const auto rule = with_decay(config, decay)) early_spec.structure.exits = rule;
        ExitWork work = measure_work(*full_spec, early_spec, run, progress);
        work.threshold = threshold;
        work.decay = decay.value_or(decay_of(*config.exits));
        results.set(Findings::exit_work, std::make_shared<const ExitWork>(std::move(work)));
      }};
}

}  // namespace attnscope
