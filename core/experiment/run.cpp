#include "core/experiment/run.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "core/analysis/prediction.h"
#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/imported_tensors.h"
#include "core/experiment/inputs.h"
#include "core/experiment/notes.h"
#include "core/experiment/training_study.h"
#include "core/model/architecture.h"
#include "core/model/memory_need.h"
#include "core/model/weights.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

// Id of a text that is a single token; throws InputError for other texts.
std::int32_t token_of_text(const std::string& text, const Checkpoint& checkpoint) {
  std::vector<std::int32_t> ids;
  if (checkpoint.tokenizer) {
    for (const Token& token : checkpoint.tokenizer->encode(text)) {
      if (!token.special) ids.push_back(token.id);
    }
  }
  if (ids.size() == 1) return ids.front();
  throw InputError("intervene: expected a text of one token of " + checkpoint.name + ", found \"" +
                   text + "\", which is " + std::to_string(ids.size()));
}

// Applies interventions that replace tokens.
void replace_tokens(const Interventions& interventions, const Checkpoint& checkpoint,
                    std::vector<TraceToken>& tokens) {
  for (const Intervention& i : interventions) {
    if (i.kind != Intervention::Kind::Replace) continue;
    TraceToken& token = tokens[static_cast<std::size_t>(i.position)];
    const std::int32_t id = i.token >= 0 ? i.token : token_of_text(i.text, checkpoint);
    TraceToken replacement = trace_token(id, checkpoint);
    replacement.begin = token.begin;
    replacement.end = token.end;
    replacement.sentence = token.sentence;
    replacement.segment = token.segment;
    token = std::move(replacement);
  }
}

}  // namespace

BackendProvider cpu_only() {
  return [](BackendChoice choice) {
    if (choice == BackendChoice::Gpu) return BackendOffer{nullptr, "no GPU available"};
    return BackendOffer{&cpu_backend(), ""};
  };
}

struct ExperimentRun::State {
  // Inputs of a run besides its RunSpec. They change if their files are modified.
  struct Sources {
    ModelVersion model;
    std::shared_ptr<const Store> contexts;
    fs::file_time_type tensors{};
    bool operator==(const Sources&) const = default;
  };
  // Cached run of the last request; reused if only the compared run or the findings change.
  struct CachedRun {
    Session session;
    Sources sources;
    std::shared_ptr<const Trace> trace;
    Findings findings;
    bool is_timed = false;  // the trace's time is the median of repeated runs
  };

  BackendProvider backends;
  std::shared_ptr<ModelStore> models;
  std::vector<CachedRun> cache{};  // runs of the last request
  std::shared_ptr<Progress> progress{};
  std::shared_ptr<LayerWatch> watch{};

  // Starts a progress stage of unknown duration at `fraction` of the run.
  void begin_stage(const std::string& name, double fraction) const {
    if (progress != nullptr) progress->begin_stage(name, fraction, fraction);
  }

  Sources current_sources(const RunSpec& spec) const {
    Sources sources;
    if (spec.tensors.file.empty()) {
      sources.model = models->current(spec.model);
      if (spec.retrieval) sources.contexts = models->contexts(spec.retrieval->store);
    } else if (spec.tensors.embedded == nullptr) {
      std::error_code error;
      sources.tensors = fs::last_write_time(spec.tensors.file, error);
    }
    return sources;
  }

  bool runs_on_cpu(BackendChoice choice) const {
    return backends(choice).backend == &cpu_backend();
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

void ExperimentRun::report_to(std::shared_ptr<Progress> progress) {
  state_->progress = std::move(progress);
}

void ExperimentRun::watch(std::shared_ptr<LayerWatch> watch) {
  state_->watch = std::move(watch);
}

bool shows_layers(const ModelConfig& config, Index min_parameters) {
  const Architecture& a = architecture(config.architecture.id);
  const bool has_layer_stack = a.is_single_stack || (a.has_encoder && a.has_self_attention);
  const bool runs_once = has_layer_stack && config.segment == 0 && !config.exits &&
                         config.own_layers == 0 && config.residual_connection.id == "residual";
  return runs_once && parameter_count(config) >= min_parameters;
}

std::string first_layers_label(Index layers, Index total) {
  return (layers == 1 ? "layer 1" : "layers 1 to " + std::to_string(layers)) + " of " +
         std::to_string(total);
}

namespace {

// Trace of the first layers of a run in progress.
std::shared_ptr<const Trace> first_layers(const Trace& trace, const Model& model, Index layers) {
  auto partial = std::make_shared<Trace>(trace);
  auto config = std::make_shared<ModelConfig>(*trace.config);
  config->layers = layers;
  config->groups.resize(static_cast<std::size_t>(layers));
  config->model_options.output_head = config->tied_output = false;
  config->head = {};
  partial->config = std::move(config);
  partial->untrained = model.untrained;
  partial->notes.push_back(first_layers_label(layers, trace.config->layers) +
                           ": the remaining layers are not computed yet");
  return partial;
}

// Reports completed layers at intervals, but encoder layers only with the first decoder layers.
std::function<void(Stack, Index)> layer_reporter(const ExperimentRun::LayerWatch& watch,
                                                 Trace& trace, const Model& model) {
  using Clock = std::chrono::steady_clock;
  const auto to_duration = [](double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  const Clock::time_point start = Clock::now();
  return [&, to_duration, start, due = start + to_duration(watch.delay)](Stack stack,
                                                                         Index layers) mutable {
    const Clock::time_point time = Clock::now();
    if (stack == Stack::Encoder || layers == trace.config->layers || time < due) return;
    due = time + to_duration(watch.interval);
    trace.milliseconds = std::chrono::duration<double, std::milli>(time - start).count();
    watch.on_layers(first_layers(trace, model, layers), trace.config->layers);
  };
}

// Weights as parameters for gradients; 16-bit matrices are converted to floats.
Model with_parameters(const Model& model) {
  Model result = model;
  for (const auto& [name, matrix] : model.narrow) {
    result.weights.emplace(name, Var(matrix.to_tensor()));
  }
  result.narrow.clear();
  const std::set<std::string> constant = constant_weight_names(model.config);
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
    if (!weight.requires_gradient()) continue;
    const Tensor gradient = weight.gradient();
    trace.taps["gradient." + name] = gradient.defined() ? gradient : Tensor::zeros(weight.shape());
  }
}

// Model and input of a run. prepare() adds notes and names to the trace.
struct PreparedRun {
  Model model;
  ModelInput input;
  RunLength length;
  bool keeps_activations = true;  // see ForwardOptions
  std::optional<Retrieval> retrieval;
};

void run_forward(const PreparedRun& prepared_run, Backend& backend, const RunSpec& spec,
                 ExperimentRun::Training training, Progress* progress,
                 const ExperimentRun::LayerWatch* watch, Trace& trace) {
  const ModelInput& input = prepared_run.input;
  const Model model = training.gradients ? with_parameters(prepared_run.model) : prepared_run.model;
  ForwardOptions options;
  options.backend = &backend;
  options.trace = &trace;
  options.interventions = &spec.interventions;
  options.keep_attention = keeps_attention(model.config, prepared_run.length);
  options.keep_activations = prepared_run.keeps_activations;
  options.exit = spec.exit;
  options.retrieval = prepared_run.retrieval ? &*prepared_run.retrieval : nullptr;
  options.progress = progress;
  if (watch != nullptr && watch->is_active)
    options.layer_recorded = layer_reporter(*watch, trace, model);
  trace.backend = backend.name();
  const auto start = std::chrono::steady_clock::now();
  const Output output = attnscope::run(model, input.batch, options);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  trace.milliseconds = time.count();
  if (training.losses) record_losses(model, output, training.gradients, trace);
  if (input.batch.ids.defined() && trace.logits.defined() &&
      !is_masked_model(model.config)) {  // masked models predict no next token
    trace.token_bits =
        token_bits(predictions(trace), {input.batch.ids.begin(), input.batch.ids.end()});
  }
}

// Notes operations that fell back to the CPU. Throws InputError if the user requested the GPU.
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

std::shared_ptr<const Trace> ExperimentRun::run(const RunSpec& spec) {
  return run(spec, {});
}

namespace {

std::shared_ptr<const Trace> run_tensors(const RunSpec& spec, Backend& backend,
                                         std::vector<std::string> notes) {
  auto trace = std::make_shared<Trace>(trace_of_tensors(spec, backend));
  if (!trace->is_imported) {  // imported attention was not computed on any device
    trace->notes.insert(trace->notes.begin(), notes.begin(), notes.end());
  }
  note_fallbacks(spec.backend, *trace);
  return trace;
}

PreparedRun prepare(const RunSpec& spec, const std::shared_ptr<const Checkpoint>& checkpoint,
                    const std::shared_ptr<const Store>& contexts, ExperimentRun::Training training,
                    bool is_on_cpu, Trace& trace) {
  trace.model = checkpoint->name;
  trace.trained = {checkpoint, &checkpoint->model.config};
  trace.config = std::make_shared<const ModelConfig>(
      apply_structure(checkpoint->model.config, spec.structure));
  trace.tokenizer = checkpoint->output_tokenizer();
  std::vector<TraceToken> tokens = tokens_to_read(*trace.config, *checkpoint, spec, trace.notes);
  const auto length = static_cast<Index>(tokens.size());
  const RunSpec text_spec = with_text_parameters(spec, tokens, trace.config->segment);
  ModelConfig run_config = *trace.config;
  run_config.groups = effective_groups(run_config, text_spec);
  run_config.causal = spec.causal.value_or(run_config.causal);
  check(run_config, "model");
  RunLength lengths{length};
  if (architecture(run_config.architecture.id).reads == Reads::SourceAndTarget) {
    lengths.target = static_cast<Index>(target_so_far(run_config, *checkpoint, spec).size());
  }
  const bool recomputes = is_on_cpu && !training.losses && !spec.retrieval;
  check_memory(checkpoint->model, run_config, lengths, training.gradients, recomputes);
  PreparedRun result{.model = effective_model(checkpoint->model, text_spec, length),
                     .input = {},
                     .length = lengths,
                     .keeps_activations = !recomputes || keeps_activations(run_config, lengths),
                     .retrieval = {}};
  const bool is_longer = length > result.model.config.context && result.model.config.segment == 0;
  if (is_longer) result.model = with_context(result.model, length);
  const ModelConfig& config = result.model.config;
  check(spec.interventions, model_extent(*checkpoint, config, spec, length));
  replace_tokens(spec.interventions, *checkpoint, tokens);
  result.input = model_input(config, *checkpoint, spec, std::move(tokens), training.losses);
  if (spec.retrieval) result.retrieval.emplace(*spec.retrieval, contexts, config);
  return result;
}

}  // namespace

std::shared_ptr<const Trace> ExperimentRun::run(const RunSpec& spec, Training training) {
  auto trace = std::make_shared<Trace>();
  if (!spec.tensors.file.empty()) {
    state_->begin_stage("reading the file", 0);
    Backend& backend = state_->backend(spec.backend, *trace);
    return run_tensors(spec, backend, trace->notes);
  }
  state_->begin_stage("reading the model", 0);
  const State::Sources sources = state_->current_sources(spec);
  const std::shared_ptr<const Checkpoint>& checkpoint = sources.model.checkpoint;
  check_stop();
  state_->begin_stage("tokenising the text", 0);
  PreparedRun prepared_run = prepare(spec, checkpoint, sources.contexts, training,
                                     state_->runs_on_cpu(spec.backend), *trace);
  const Model& model = prepared_run.model;
  trace->tokens = std::move(prepared_run.input.tokens);
  trace->streams = std::move(prepared_run.input.streams);
  trace->pixels = prepared_run.input.pixels ? prepared_run.input.pixels
                                            : pixels_of(model.config, trace->tokens);
  check_stop();
  if (state_->watch != nullptr)
    state_->watch->is_active = shows_layers(model.config, state_->watch->min_parameters);
  if (state_->progress != nullptr) {
    state_->progress->set_tokens(static_cast<long long>(trace->text_tokens().size()));
  }
  Backend& backend = state_->backend(spec.backend, *trace);
  run_forward(prepared_run, backend, spec, training, state_->progress.get(), state_->watch.get(),
              *trace);
  state_->begin_stage("collecting notes", 1);
  record_training_step(spec.model, *trace);
  note_fallbacks(spec.backend, *trace);
  trace->untrained = model.untrained;
  for (std::string& note : notes_on_model(checkpoint->model, model)) {
    trace->notes.push_back(std::move(note));
  }
  if (spec.retrieval) trace->notes.push_back(note_on_retrieval(*spec.retrieval, *sources.contexts));
  for (std::string note : {note_on_unknown_tokens(*trace), note_on_bytes(*trace)}) {
    if (!note.empty()) trace->notes.push_back(std::move(note));
  }
  for (std::string& note : notes_on_attention(*trace)) trace->notes.push_back(std::move(note));
  for (std::string& note : notes_on_patterns(*trace)) trace->notes.push_back(std::move(note));
  return trace;
}

ExperimentRun::InferenceOnly ExperimentRun::run_inference_only(const RunSpec& spec) {
  const State::Sources sources = state_->current_sources(spec);
  Trace unused_trace;  // receives notes only
  const PreparedRun prepared_run =
      prepare(spec, sources.model.checkpoint, sources.contexts, {}, true, unused_trace);
  InferenceOnly result;
  ForwardOptions options;
  options.interventions = &spec.interventions;
  options.exit = spec.exit;
  options.retrieval = prepared_run.retrieval ? &*prepared_run.retrieval : nullptr;
  options.work = &result.work;
  const auto start = std::chrono::steady_clock::now();
  result.output = attnscope::run(prepared_run.model, prepared_run.input.batch, options);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  result.milliseconds = time.count();
  return result;
}

Output ExperimentRun::run_probed(const RunSpec& spec, const Probe& probe, bool gradients) {
  const State::Sources sources = state_->current_sources(spec);
  Trace unused_trace;
  const PreparedRun prepared_run =
      prepare(spec, sources.model.checkpoint, sources.contexts,
              {.losses = false, .gradients = gradients}, !gradients, unused_trace);
  ForwardOptions options;
  options.trace = &unused_trace;
  options.interventions = &spec.interventions;
  options.keep_attention = keeps_attention(prepared_run.model.config, prepared_run.length);
  options.keep_activations = prepared_run.keeps_activations;
  options.exit = spec.exit;
  options.retrieval = prepared_run.retrieval ? &*prepared_run.retrieval : nullptr;
  options.progress = state_->progress.get();
  options.probe = probe;
  return attnscope::run(prepared_run.model, prepared_run.input.batch, options);
}

std::shared_ptr<const Checkpoint> ExperimentRun::checkpoint(const RunSpec& spec) const {
  return state_->models->checkpoint(spec.model);
}

std::shared_ptr<const Store> ExperimentRun::contexts(const RunSpec& spec) const {
  return state_->current_sources(spec).contexts;
}

Index warm_runs_after(double milliseconds) {
  constexpr double kTotalTime = 250;  // milliseconds of all warm runs
  constexpr Index kMin = 3, kMax = 9;
  if (kMin * milliseconds > kTotalTime) return 0;
  return std::clamp(static_cast<Index>(kTotalTime / std::max(milliseconds, 1e-3)), kMin, kMax);
}

namespace {

// Reports the median time of warm runs, which follow a first run with cold caches.
std::shared_ptr<const Trace> run_for_time(ExperimentRun& run, const RunSpec& spec) {
  const std::shared_ptr<const Trace> first = run.run(spec);
  const Index run_count = warm_runs_after(first->milliseconds);
  if (run_count == 0) return first;
  std::vector<double> times;
  std::shared_ptr<const Trace> last;
  for (Index n = 0; n < run_count; ++n) {
    last.reset();
    last = run.run(spec);
    times.push_back(last->milliseconds);
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  auto timed = std::make_shared<Trace>(*last);
  timed->milliseconds = *middle;
  timed->warm_runs = static_cast<Index>(times.size());
  return timed;
}

// The requested findings: those of `old_session` that are still valid, and newly computed ones.
Findings valid_findings(const FinishedRun& run, const std::vector<FindingRequest>& requests,
                        const Findings& old_findings, const Session& old_session) {
  Findings result;
  for (const Finding& finding : findings()) {
    if (!finding.with_run) continue;
    const bool is_requested =
        std::ranges::find(requests, finding.id, &FindingRequest::id) != requests.end();
    if (old_findings.has(finding.id) && finding.is_reusable(old_session.run, run.session.run)) {
      result.add(old_findings.only(finding.id));
    } else if (is_requested && finding.exists(run.session)) {
      finding.with_run(run, result);
    }
  }
  return result;
}

}  // namespace

Traces ExperimentRun::observe(const Session& session, const std::vector<FindingRequest>& requests) {
  std::vector<State::CachedRun> next_cache;  // runs of this request
  const auto cached_or_new_run = [&](const Session& single) {
    // Times of imported attention are unknown.
    const bool is_timed = session.b && single.run.tensors.file.empty();
    State::Sources sources = state_->current_sources(single.run);
    const auto cached = std::ranges::find_if(state_->cache, [&](const State::CachedRun& entry) {
      return entry.session.run == single.run && entry.sources == sources &&
             (entry.is_timed || !is_timed);
    });
    if (cached != state_->cache.end()) return *cached;
    const auto trace = is_timed ? run_for_time(*this, single.run) : run(single.run);
    return State::CachedRun{single, std::move(sources), trace, {}, is_timed};
  };
  using Requests = std::vector<FindingRequest>;
  const std::function<Traces(const Session&, const Requests&)> observe_run =
      [&](const Session& observed, const Requests& run_requests) {
        State::CachedRun entry = cached_or_new_run(observed);
        const auto observe_reference = [&](const Session& reference, bool with_findings) {
          Requests reference_requests = with_findings ? run_requests : Requests();
          std::erase_if(reference_requests, [](const FindingRequest& request) {
            return request.id == Findings::reference.id;  // the reference run has no reference
          });
          return observe_run(reference, reference_requests);
        };
        const FinishedRun run{observed, entry.trace, entry.sources.model.checkpoint.get(),
                              observe_reference};
        if (!run_requests.empty()) state_->begin_stage("computing findings", 1);
        const bool is_whole_picture = &observed == &session && !reference_of(session);
        if (is_whole_picture && !run_requests.empty() && state_->watch && state_->watch->on_trace) {
          state_->watch->on_trace(entry.trace);
        }
        entry.findings = valid_findings(run, run_requests, entry.findings, entry.session);
        Traces traces(entry.trace);
        traces.findings = entry.findings;
        next_cache.push_back(std::move(entry));
        return traces;
      };
  Traces traces = observe_run(session, requests);
  state_->cache = std::move(next_cache);
  return traces;
}

}  // namespace attnscope
