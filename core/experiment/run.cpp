// ExperimentRun: one experiment from text to trace.
#include <algorithm>
#include <chrono>
#include <set>

#include "core/analysis/prediction.h"
#include "core/base/error.h"
#include "core/base/stop_scope.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/chosen.h"
#include "core/experiment/inputs.h"
#include "core/experiment/notes.h"
#include "core/experiment/own_tensors.h"
#include "core/experiment/runner.h"
#include "core/model/architecture.h"
#include "core/model/memory.h"
#include "core/model/memory_need.h"
#include "core/model/weights.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

// The one token that a text is.
std::int32_t token_of_text(const std::string& text, const Checkpoint& checkpoint) {
  std::vector<std::int32_t> ids;
  if (checkpoint.tokenizer) {
    for (const Token& token : checkpoint.tokenizer->encode(text)) {
      if (!token.special) ids.push_back(token.id);
    }
  }
  if (ids.size() == 1) return ids.front();
  throw InputError("intervene: expected a text that is one token of " + checkpoint.name +
                   ", found \"" + text + "\", which is " + std::to_string(ids.size()));
}

// Puts other tokens in the places that interventions name.
void replace_tokens(const Interventions& interventions, const Checkpoint& checkpoint,
                    std::vector<TraceToken>& tokens) {
  for (const Intervention& i : interventions) {
    if (i.kind != Intervention::Kind::Replace) continue;
    TraceToken& token = tokens[static_cast<std::size_t>(i.position)];
    const std::int32_t id = i.token >= 0 ? i.token : token_of_text(i.text, checkpoint);
    TraceToken other = trace_token(id, checkpoint);
    other.begin = token.begin;
    other.end = token.end;
    other.sentence = token.sentence;
    other.segment = token.segment;
    token = std::move(other);
  }
}

}  // namespace

BackendProvider cpu_only() {
  return [](BackendChoice choice) {
    if (choice == BackendChoice::Gpu) return BackendOffer{nullptr, "there is no GPU here"};
    return BackendOffer{&cpu_backend(), ""};
  };
}

struct ExperimentRun::State {
  // What a run was made of, beside its experiment: other ones than before where files were written.
  struct Sources {
    std::shared_ptr<const Checkpoint> checkpoint;
    std::shared_ptr<const Store> contexts;
    fs::file_time_type tensors{};
    bool operator==(const Sources&) const = default;
  };
  // A run of the last request, so that it need not be repeated when only another of it changes, or
  // what is worked out from it.
  struct Kept {
    Experiment experiment;
    Sources sources;
    std::shared_ptr<const Trace> trace;
    Findings findings;
    bool timed = false;  // its time is that of a repeated run
  };

  BackendProvider backends;
  std::shared_ptr<ModelStore> models;
  std::vector<Kept> kept{};  // of the last request
  std::shared_ptr<Progress> progress{};
  std::shared_ptr<LayerWatch> watch{};

  // What is done from now on, that has no share of the whole or comes after all of it.
  void enter(const std::string& what, double share) const {
    if (progress != nullptr) progress->enter(what, share, share);
  }

  Sources sources_of(const Experiment& experiment) const {
    Sources sources;
    if (experiment.tensors.file.empty()) {
      sources.checkpoint = models->checkpoint(experiment.model);
      if (experiment.retrieval) sources.contexts = models->contexts(experiment.retrieval->store);
    } else {
      std::error_code missing;
      sources.tensors = fs::last_write_time(experiment.tensors.file, missing);
    }
    return sources;
  }

  Backend& backend(BackendChoice choice, Trace& trace) const {
    const BackendOffer offer = backends(choice);
    if (!offer.backend) {
      throw InputError("backend " + std::string(to_string(choice)) + ": " + offer.note);
    }
    if (!offer.note.empty()) trace.notes.push_back(offer.note);
    return *offer.backend;
  }
};

ExperimentRun::ExperimentRun(BackendProvider backends, std::shared_ptr<ModelStore> models)
    : state_(std::make_unique<State>(State{std::move(backends), std::move(models)})) {}

ExperimentRun::~ExperimentRun() = default;

void ExperimentRun::tell(std::shared_ptr<Progress> progress) {
  state_->progress = std::move(progress);
}

void ExperimentRun::watch(std::shared_ptr<LayerWatch> watch) {
  state_->watch = std::move(watch);
}

bool comes_by_layer(const ModelConfig& config, Index from) {
  const Architecture& a = architecture(config.architecture.id);
  const bool stacks = a.one_stack || (a.has_encoder && a.has_self_attention);
  const bool once = stacks && config.segment == 0 && !config.exits && config.own_layers == 0 &&
                    config.join.id == "residual";
  return once && parameter_count(config) >= from;
}

std::string first_layers_words(Index layers, Index all) {
  return (layers == 1 ? "layer 1" : "layers 1 to " + std::to_string(layers)) + " of " +
         std::to_string(all);
}

namespace {

// What is there of a run after its first layers.
std::shared_ptr<const Trace> first_layers(const Trace& trace, const Model& model, Index layers) {
  auto part = std::make_shared<Trace>(trace);
  auto config = std::make_shared<ModelConfig>(*trace.config);
  config->layers = layers;
  config->groups.resize(static_cast<std::size_t>(layers));
  config->ingredients.output_head = config->tied_output = false;
  config->head = {};
  part->config = std::move(config);
  part->untrained = model.untrained;
  part->notes.push_back(first_layers_words(layers, trace.config->layers) +
                        ": the others are not computed yet");
  return part;
}

// Shows what is there of a run from time to time; an encoder's layers with the decoder's first.
std::function<void(Stack, Index)> layer_teller(const ExperimentRun::LayerWatch& watch, Trace& trace,
                                               const Model& model) {
  using Clock = std::chrono::steady_clock;
  const auto in = [](double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  const Clock::time_point began = Clock::now();
  return [&, in, began, due = began + in(watch.after)](Stack stack, Index layers) mutable {
    const Clock::time_point now = Clock::now();
    if (stack == Stack::Encoder || layers == trace.config->layers || now < due) return;
    due = now + in(watch.between);
    trace.milliseconds = std::chrono::duration<double, std::milli>(now - began).count();
    watch.take(first_layers(trace, model, layers), trace.config->layers);
  };
}

// The weights as parameters, for gradients; matrices of 16 bits as floats.
Model with_parameters(const Model& model) {
  Model result = model;
  for (const auto& [name, matrix] : model.narrow) {
    result.weights.emplace(name, Var(matrix.widened()));
  }
  result.narrow.clear();
  const std::set<std::string> constant = untrained_names(model.config);
  for (auto& [name, weight] : result.weights) {
    if (!constant.contains(name)) weight = Var::parameter(weight.value());
  }
  return result;
}

void record_losses(const Model& model, const Output& output, bool gradients, Trace& trace) {
  const Var total = output.total_loss();
  for (const Loss& loss : output.losses) {
    trace.taps["loss." + loss.name] = loss.value.value().reshaped({1});
  }
  trace.taps["loss.total"] = total.value().reshaped({1});
  if (!gradients) return;
  backward(total);
  for (const auto& [name, weight] : model.weights) {
    if (!weight.wants_gradient()) continue;
    const Tensor gradient = weight.gradient();
    trace.taps["gradient." + name] = gradient.defined() ? gradient : Tensor::zeros(weight.shape());
  }
}

// Fills in the taps.
void run_forward(const Model& chosen, const ModelInput& input, RunLength length,
                 const Retrieval* retrieval, Backend& backend, const Experiment& experiment,
                 ExperimentRun::Training training, const Stop& stop, Progress* progress,
                 const ExperimentRun::LayerWatch* watch, Trace& trace) {
  const Model model = training.gradients ? with_parameters(chosen) : chosen;
  ForwardOptions options;
  options.backend = &backend;
  options.stop = stop;
  options.trace = &trace;
  options.interventions = &experiment.interventions;
  options.keep_attention = keeps_attention(model.config, length);
  options.exit = experiment.exit;
  options.retrieval = retrieval;
  options.progress = progress;
  if (watch != nullptr && watch->on) options.layer_recorded = layer_teller(*watch, trace, model);
  trace.backend = backend.name();
  const auto start = std::chrono::steady_clock::now();
  const Output output = attnscope::run(model, input.batch, options);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  trace.milliseconds = time.count();
  if (training.losses) record_losses(model, output, training.gradients, trace);
  if (input.batch.ids.defined() && trace.logits.defined() &&
      !fills_in(model.config)) {  // which foretells no next token
    trace.token_bits =
        token_bits(predictions(trace), {input.batch.ids.begin(), input.batch.ids.end()});
  }
}

// What the backend could not do ran on the CPU: fine, but where it was asked for by name.
void note_fallbacks(BackendChoice choice, Trace& trace) {
  std::set<std::string> reasons;
  for (const AttentionTap& tap : trace.attention) {
    if (!tap.result.note.empty()) reasons.insert(tap.result.note);
  }
  for (const std::string& reason : reasons) {
    if (choice == BackendChoice::Gpu) throw InputError("backend gpu: " + reason);
    trace.notes.push_back(reason);
  }
}

}  // namespace

std::shared_ptr<const Trace> ExperimentRun::run(const Experiment& experiment, const Stop& stop) {
  return run(experiment, {}, stop);
}

namespace {

// Attention that a file gives.
std::shared_ptr<const Trace> run_tensors(const Experiment& experiment, Backend& backend,
                                         std::vector<std::string> notes, const Stop& stop) {
  auto trace = std::make_shared<Trace>(trace_of_tensors(experiment, backend, stop));
  if (!trace->given) {  // otherwise nothing ran anywhere
    trace->notes.insert(trace->notes.begin(), notes.begin(), notes.end());
  }
  note_fallbacks(experiment.backend, *trace);
  return trace;
}

}  // namespace

namespace {

// A model as the experiment wants it, and what it is given. Notes and names go into the trace.
struct Prepared {
  Model model;
  ModelInput input;
  RunLength length;
  std::optional<Retrieval> retrieval;
};

Prepared prepared(const Experiment& experiment, const std::shared_ptr<const Checkpoint>& checkpoint,
                  const std::shared_ptr<const Store>& contexts, ExperimentRun::Training training,
                  Trace& trace) {
  trace.model = checkpoint->name;
  trace.trained = {checkpoint, &checkpoint->model.config};
  trace.config = std::make_shared<const ModelConfig>(
      structured(checkpoint->model.config, experiment.structure));
  trace.tokenizer = checkpoint->writing();
  std::vector<TraceToken> tokens =
      tokens_to_read(*trace.config, *checkpoint, experiment, trace.notes);
  const auto length = static_cast<Index>(tokens.size());
  const Experiment read = with_text_read(experiment, tokens, trace.config->segment);
  ModelConfig chosen = *trace.config;
  chosen.groups = chosen_groups(chosen, read);
  chosen.causal = experiment.causal.value_or(chosen.causal);
  check(chosen, "model");
  RunLength lengths{length};
  if (architecture(chosen.architecture.id).reads == Reads::SourceAndTarget) {
    lengths.target = static_cast<Index>(target_so_far(chosen, *checkpoint, experiment).size());
  }
  check_memory(checkpoint->model, chosen, lengths, training.gradients);
  Prepared result{.model = chosen_model(checkpoint->model, read, length),
                  .input = {},
                  .length = lengths,
                  .retrieval = {}};
  const bool beyond = length > result.model.config.context && result.model.config.segment == 0;
  if (beyond) result.model = with_context(result.model, length);
  const ModelConfig& config = result.model.config;
  check(experiment.interventions, model_extent(*checkpoint, config, experiment, length));
  replace_tokens(experiment.interventions, *checkpoint, tokens);
  result.input = model_input(config, *checkpoint, experiment, std::move(tokens), training.losses);
  if (experiment.retrieval) result.retrieval.emplace(*experiment.retrieval, contexts, config);
  return result;
}

}  // namespace

std::shared_ptr<const Trace> ExperimentRun::run(const Experiment& experiment, Training training,
                                                const Stop& stop) {
  const StopScope scope(stop);
  auto trace = std::make_shared<Trace>();
  if (!experiment.tensors.file.empty()) {
    state_->enter("reading the file", 0);
    Backend& backend = state_->backend(experiment.backend, *trace);
    return run_tensors(experiment, backend, trace->notes, stop);
  }
  state_->enter("reading the model", 0);
  const State::Sources sources = state_->sources_of(experiment);
  const std::shared_ptr<const Checkpoint>& checkpoint = sources.checkpoint;
  stop.check();
  state_->enter("cutting the text into tokens", 0);
  Prepared what = prepared(experiment, checkpoint, sources.contexts, training, *trace);
  const Model& model = what.model;
  trace->tokens = std::move(what.input.tokens);
  trace->streams = std::move(what.input.streams);
  trace->pixels = what.input.pixels ? what.input.pixels : pixels_of(model.config, trace->tokens);
  stop.check();
  if (state_->watch != nullptr) {
    state_->watch->on = comes_by_layer(model.config, state_->watch->from);
  }
  if (state_->progress != nullptr) {
    state_->progress->set_tokens(static_cast<long long>(trace->text_tokens().size()));
  }
  Backend& backend = state_->backend(experiment.backend, *trace);
  run_forward(model, what.input, what.length, what.retrieval ? &*what.retrieval : nullptr, backend,
              experiment, training, stop, state_->progress.get(), state_->watch.get(), *trace);
  state_->enter("taking stock", 1);
  note_fallbacks(experiment.backend, *trace);
  trace->untrained = model.untrained;
  for (std::string& note : notes_on_model(checkpoint->model, model)) {
    trace->notes.push_back(std::move(note));
  }
  if (experiment.retrieval) {
    trace->notes.push_back(note_on_retrieval(*experiment.retrieval, *sources.contexts));
  }
  if (const std::string note = note_on_bytes(*trace); !note.empty()) trace->notes.push_back(note);
  for (std::string& note : notes_on_attention(*trace)) trace->notes.push_back(std::move(note));
  for (std::string& note : notes_on_patterns(*trace)) trace->notes.push_back(std::move(note));
  return trace;
}

ExperimentRun::Bare ExperimentRun::run_bare(const Experiment& experiment, const Stop& stop) {
  const StopScope scope(stop);
  const State::Sources sources = state_->sources_of(experiment);
  Trace names;  // nothing of the pass is recorded
  const Prepared what = prepared(experiment, sources.checkpoint, sources.contexts, {}, names);
  Bare result;
  ForwardOptions options;
  options.stop = stop;
  options.interventions = &experiment.interventions;
  options.exit = experiment.exit;
  options.retrieval = what.retrieval ? &*what.retrieval : nullptr;
  options.work = &result.work;
  const auto start = std::chrono::steady_clock::now();
  result.output = attnscope::run(what.model, what.input.batch, options);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  result.milliseconds = time.count();
  return result;
}

std::shared_ptr<const Checkpoint> ExperimentRun::checkpoint(const Experiment& experiment) const {
  return state_->models->checkpoint(experiment.model);
}

std::shared_ptr<const Store> ExperimentRun::contexts(const Experiment& experiment) const {
  return state_->sources_of(experiment).contexts;
}

Index warm_runs_after(double milliseconds) {
  constexpr double kTogether = 250;  // milliseconds
  constexpr Index kLeast = 3, kMost = 9;
  if (kLeast * milliseconds > kTogether) return 0;
  return std::clamp(static_cast<Index>(kTogether / std::max(milliseconds, 1e-3)), kLeast, kMost);
}

namespace {

// Times are compared, too: the median of runs after a first one, which finds caches cold.
std::shared_ptr<const Trace> run_for_time(ExperimentRun& run, const Experiment& experiment,
                                          const Stop& stop) {
  const std::shared_ptr<const Trace> first = run.run(experiment, stop);
  const Index wanted = warm_runs_after(first->milliseconds);
  if (wanted == 0) return first;
  std::vector<double> times;
  std::shared_ptr<const Trace> last;
  for (Index n = 0; n < wanted; ++n) {
    last.reset();
    last = run.run(experiment, stop);
    times.push_back(last->milliseconds);
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  auto timed = std::make_shared<Trace>(*last);
  timed->milliseconds = *middle;
  timed->warm_runs = static_cast<Index>(times.size());
  return timed;
}

// What was found that still holds, and what of `names` is not known yet.
Findings found_in(const RunToRead& run, const std::vector<std::string>& names,
                  const Findings& before, const Experiment& of_before) {
  Findings result;
  for (const Finding& one : findings()) {
    if (!one.with_run) continue;
    if (before.has(one.id) && one.holds(of_before, run.experiment)) {
      result.add(before.only(one.id));
    } else if (std::ranges::find(names, one.id) != names.end() && one.exists(run.experiment)) {
      one.with_run(run, result);
    }
  }
  return result;
}

}  // namespace

Traces ExperimentRun::observe(const Experiment& experiment, const std::vector<std::string>& names,
                              const Stop& stop) {
  const StopScope scope(stop);
  std::vector<State::Kept> now;  // of this request
  const auto run_unless_kept = [&](const Experiment& one) {
    // What comes from a file was not computed here.
    const bool timed = !experiment.others.empty() && one.tensors.file.empty();
    State::Sources sources = state_->sources_of(one);
    const auto before = std::ranges::find_if(state_->kept, [&](const State::Kept& k) {
      return same_run(k.experiment, one) && k.sources == sources && (k.timed || !timed);
    });
    if (before != state_->kept.end()) return *before;
    const auto trace = timed ? run_for_time(*this, one, stop) : run(one, stop);
    return State::Kept{one, std::move(sources), trace, {}, timed};
  };
  using Names = std::vector<std::string>;
  const std::function<Traces(const Experiment&, const Names&)> observed =
      [&](const Experiment& whole, const Names& wanted) {
        Experiment one = whole;
        one.others.clear();
        State::Kept kept = run_unless_kept(one);
        const auto beside = [&](const Experiment& other, bool alone) {
          Names of_other = alone ? wanted : Names();
          std::erase(of_other, Findings::reference.id);  // it stands beside this run already
          return observed(other, of_other);
        };
        const RunToRead run{whole, kept.trace, kept.sources.checkpoint.get(), beside, stop};
        if (!wanted.empty()) state_->enter("reading the layers", 1);
        kept.findings = found_in(run, wanted, kept.findings, kept.experiment);
        Traces traces(kept.trace);
        traces.findings = kept.findings;
        now.push_back(std::move(kept));
        return traces;
      };
  Traces traces = observed(experiment, names);
  state_->kept = std::move(now);
  return traces;
}

}  // namespace attnscope
