// ExperimentRun: one experiment from text to trace.
#include <algorithm>
#include <chrono>
#include <set>

#include "core/analysis/prediction.h"
#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/chosen.h"
#include "core/experiment/inputs.h"
#include "core/experiment/notes.h"
#include "core/experiment/own_tensors.h"
#include "core/experiment/runner.h"
#include "core/model/logit_lens.h"
#include "core/model/memory.h"
#include "core/model/weights.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

constexpr Index kMostTokens = 65536;                  // of a text that is run beyond the context
constexpr Index kMostKeptAttention = Index{1} << 27;  // numbers: 512 MiB
constexpr std::size_t kMostCheckpoints = 2;           // kept loaded: enough to compare two

// A checkpoint that is in memory, and the file time that tells whether it changed since.
struct Loaded {
  std::string model;
  fs::file_time_type time;
  std::shared_ptr<const Checkpoint> checkpoint;
};

// When anything of a checkpoint was last written; the index stands for shards.
fs::file_time_type time_of(const fs::path& folder) {
  fs::file_time_type newest = fs::file_time_type::min();
  std::vector<std::string> files = tokenizer_file_names();
  files.insert(files.end(), {"model.safetensors", "model.safetensors.index.json", "config.json"});
  for (const std::string& file : files) {
    std::error_code missing;
    const fs::file_time_type time = fs::last_write_time(folder / file, missing);
    if (!missing) newest = std::max(newest, time);
  }
  return newest;
}

// When the file of tensors or the model that the experiment names was last written.
fs::file_time_type input_time(const Experiment& experiment) {
  if (experiment.tensors.file.empty()) return time_of(model_folder(experiment.model));
  std::error_code missing;
  return fs::last_write_time(experiment.tensors.file, missing);
}

// Keeps what the model has room for, and says so.
void cut(std::vector<TraceToken>& tokens, Index context, Overlong policy, Trace& trace) {
  const Index count = static_cast<Index>(tokens.size());
  if (count <= context) return;
  const Index room = policy == Overlong::All ? std::max(context, kMostTokens) : context;
  if (count > room) {
    if (policy == Overlong::Last) {
      tokens.erase(tokens.begin(), tokens.end() - room);
    } else {
      tokens.resize(static_cast<std::size_t>(room));
    }
    trace.notes.push_back("the text has " + std::to_string(count) + " tokens; the " +
                          (policy == Overlong::Last ? "last " : "first ") + std::to_string(room) +
                          " are used");
  }
  if (policy == Overlong::All) {
    trace.notes.push_back("the model was trained on " + std::to_string(context) +
                          " tokens at a time; it never saw the positions beyond");
  }
}

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
    token = std::move(other);
  }
}

bool fits_in_memory(const ModelConfig& config, Index length) {
  return config.layers * config.heads * length <= kMostKeptAttention / most_keys(config, length);
}

}  // namespace

BackendProvider cpu_only() {
  return [](BackendChoice choice) {
    if (choice == BackendChoice::Gpu) return BackendOffer{nullptr, "there is no GPU here"};
    return BackendOffer{&cpu_backend(), ""};
  };
}

// A run of the last request, so that it need not be repeated when only another of it changes, or
// what is worked out from it.
struct Kept {
  Experiment experiment;
  fs::file_time_type input_time;
  std::shared_ptr<const Trace> trace;
  bool timed = false;  // its time is that of a repeated run
};

struct ExperimentRun::State {
  BackendProvider backends;
  std::vector<Loaded> loaded;  // the most recently used last
  std::vector<Kept> kept;      // of the last request
  std::shared_ptr<const Store> store{};
  std::string store_file{};
  fs::file_time_type store_time{};

  std::shared_ptr<const Checkpoint> checkpoint(const std::string& model) {
    const auto time = time_of(model_folder(model));
    const auto found = std::ranges::find(loaded, model, &Loaded::model);
    if (found != loaded.end() && found->time == time) {
      std::rotate(found, found + 1, loaded.end());
      return loaded.back().checkpoint;
    }
    if (found != loaded.end()) loaded.erase(found);
    loaded.push_back({model, time, std::make_shared<const Checkpoint>(load_checkpoint(model))});
    if (loaded.size() > kMostCheckpoints) loaded.erase(loaded.begin());
    return loaded.back().checkpoint;
  }

  // The store that the experiment names, read when its file is another than last time.
  std::optional<Retrieval> retrieval(const Experiment& experiment, const ModelConfig& config) {
    if (!experiment.retrieval) return std::nullopt;
    const std::string& file = experiment.retrieval->store;
    std::error_code missing;
    const fs::file_time_type time = fs::last_write_time(file, missing);
    if (!store || store_file != file || store_time != time) {
      store = std::make_shared<const Store>(load_store(file));
      store_file = file;
      store_time = time;
    }
    return Retrieval(*experiment.retrieval, store, config);
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

ExperimentRun::ExperimentRun(BackendProvider backends)
    : state_(std::make_unique<State>(
          State{.backends = std::move(backends), .loaded = {}, .kept = {}})) {}

ExperimentRun::~ExperimentRun() = default;

namespace {

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
void run_forward(const Model& chosen, const ModelInput& input, const Retrieval* retrieval,
                 Backend& backend, const Experiment& experiment, ExperimentRun::Training training,
                 const Stop& stop, Trace& trace) {
  const Index length = static_cast<Index>(trace.tokens.size());
  const Model model = training.gradients ? with_parameters(chosen) : chosen;
  ForwardOptions options;
  options.backend = &backend;
  options.stop = stop;
  options.trace = &trace;
  options.interventions = &experiment.interventions;
  options.keep_attention = fits_in_memory(model.config, length);
  options.exit = experiment.exit;
  options.retrieval = retrieval;
  const auto start = std::chrono::steady_clock::now();
  const Output output = attnscope::run(model, input.batch, options);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  trace.backend = backend.name();
  trace.milliseconds = time.count();
  if (training.losses) record_losses(model, output, training.gradients, trace);
  if (input.batch.ids.defined()) {
    trace.token_bits = token_bits(trace.logits, {input.batch.ids.begin(), input.batch.ids.end()});
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

// The experiment's tokens, as many as the model has room for; of a trajectory none.
std::vector<TraceToken> tokens_to_read(const Checkpoint& checkpoint, const Experiment& experiment,
                                       Trace& trace) {
  const ModelConfig& config = checkpoint.model.config;
  if (!reads_tokens(config)) return {};
  Experiment given = experiment;
  if (!experiment.input.empty()) given.ids = pixel_ids(config, experiment.input);
  std::vector<TraceToken> tokens = chosen_tokens(checkpoint, given);
  const bool in_segments = config.segment > 0;
  cut(tokens, in_segments ? kMostTokens : config.context, experiment.overlong, trace);
  return tokens;
}

}  // namespace

std::shared_ptr<const Trace> ExperimentRun::run(const Experiment& experiment, Training training,
                                                const Stop& stop) {
  auto trace = std::make_shared<Trace>();
  if (!experiment.tensors.file.empty()) {
    Backend& backend = state_->backend(experiment.backend, *trace);
    return run_tensors(experiment, backend, trace->notes, stop);
  }
  const auto checkpoint = state_->checkpoint(experiment.model);
  stop.check();
  const ModelConfig& config = checkpoint->model.config;
  trace->model = checkpoint->name;
  trace->config = {checkpoint, &config};
  trace->tokenizer = checkpoint->tokenizer;
  std::vector<TraceToken> tokens = tokens_to_read(*checkpoint, experiment, *trace);
  const auto length = static_cast<Index>(tokens.size());
  const Model chosen = chosen_model(checkpoint->model, experiment);
  const bool beyond = length > chosen.config.context && config.segment == 0;
  const Model model = beyond ? with_context(chosen, length) : chosen;
  check(experiment.interventions,
        {model.config.layers, model.config.heads, model.config.vocabulary, length});
  replace_tokens(experiment.interventions, *checkpoint, tokens);
  ModelInput input = model_input(*checkpoint, experiment, std::move(tokens), training.losses);
  trace->tokens = std::move(input.tokens);
  trace->key_tokens = std::move(input.key_tokens);
  const std::optional<Retrieval> retrieval = state_->retrieval(experiment, model.config);
  stop.check();
  Backend& backend = state_->backend(experiment.backend, *trace);
  run_forward(model, input, retrieval ? &*retrieval : nullptr, backend, experiment, training, stop,
              *trace);
  note_fallbacks(experiment.backend, *trace);
  trace->untrained = model.untrained;
  for (std::string& note : notes_on_model(checkpoint->model, model)) {
    trace->notes.push_back(std::move(note));
  }
  for (std::string& note : notes_on_attention(*trace)) trace->notes.push_back(std::move(note));
  for (std::string& note : notes_on_patterns(*trace)) trace->notes.push_back(std::move(note));
  return trace;
}

namespace {

// The same trace with what its layers would say.
std::shared_ptr<const Trace> with_lens(const std::shared_ptr<const Trace>& trace,
                                       const Model& model, const Stop& stop) {
  if (trace->lens) return trace;
  auto result = std::make_shared<Trace>(*trace);
  result->lens = std::make_shared<const LogitLens>(logit_lens(model, *trace, stop));
  return result;
}

}  // namespace

Traces ExperimentRun::run_both(const Experiment& experiment, bool lens, const Stop& stop) {
  const std::optional<Experiment> reference = reference_of(experiment);
  // Times are compared, too. One short run says little: the first finds caches cold.
  const auto run_for_time = [&](const Experiment& one) {
    constexpr int kRepeats = 3;
    constexpr double kShort = 20;  // milliseconds
    std::shared_ptr<const Trace> best = run(one, stop);
    for (int n = 1; n < kRepeats && best->milliseconds < kShort; ++n) {
      const std::shared_ptr<const Trace> again = run(one, stop);
      if (again->milliseconds < best->milliseconds) best = again;
    }
    return best;
  };
  std::vector<Kept> kept;
  const auto run_unless_kept = [&](Experiment one, bool with) {
    one.others.clear();
    // What comes from a file was not computed here.
    const bool timed = !experiment.others.empty() && one.tensors.file.empty();
    const auto time = input_time(one);
    const auto before = std::ranges::find_if(state_->kept, [&](const Kept& k) {
      return same_run(k.experiment, one) && k.input_time == time && (k.timed || !timed);
    });
    Kept now = before != state_->kept.end()
                   ? *before
                   : Kept{one, time, timed ? run_for_time(one) : run(one, stop), timed};
    if (with) {
      now.trace = with_lens(now.trace, state_->checkpoint(one.model)->model, stop);
    }
    kept.push_back(now);
    return now.trace;
  };
  const auto wants_lens = [&](const Experiment& one) {  // tensors come without a model
    return lens && one.tensors.file.empty();
  };
  Traces traces;
  traces.trace = run_unless_kept(experiment, wants_lens(experiment));
  if (reference) {  // what it is compared with may be looked at alone, too
    const bool alone = !experiment.others.empty();
    traces.reference = run_unless_kept(*reference, alone && wants_lens(*reference));
  }
  state_->kept = std::move(kept);
  return traces;
}

}  // namespace attnscope
