// Computes the traces of a RunSpec or a session.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/finding.h"
#include "core/model/model.h"
#include "core/trace/trace.h"

namespace attnscope {

// Result of a BackendProvider, which is called on the worker thread and may make a GL context
// current there.
struct BackendOffer {
  Backend* backend = nullptr;  // null: unavailable
  std::string note;            // reason if unavailable, else a remark for the user or empty
};
using BackendProvider = std::function<BackendOffer(BackendChoice)>;
BackendProvider cpu_only();

// Models with at least this many parameters show layers as they are computed. A preview of fewer
// tokens would take nearly as long as the run, because it would also read all weights.
inline constexpr Index kMinShownParameters = 250'000'000;
// Seconds before a run shows intermediate results; seconds between two updates of layers.
inline constexpr double kPreviewDelay = 0.4, kLayerInterval = 0.2;

// Runs models on the calling thread. Caches the last traces, so that a change to one of two
// compared runs does not repeat the other run. `models` provides the checkpoints.
class ExperimentRun {
 public:
  explicit ExperimentRun(BackendProvider backends,
                         std::shared_ptr<ModelStore> models = model_store());
  ~ExperimentRun();
  // Reports the progress of subsequent runs; null: no reports.
  void report_to(std::shared_ptr<Progress> progress);
  // Receiver of results during a run: the layers of large models, and the trace.
  struct LayerWatch {
    // Receives a trace of the layers computed so far and the total number of layers. The trace
    // describes a model with fewer layers and no output head.
    std::function<void(std::shared_ptr<const Trace>, Index layers)> on_layers;
    // Receives the complete trace of observe() before its findings are computed. May be empty.
    std::function<void(std::shared_ptr<const Trace>)> on_trace{};
    Index min_parameters = kMinShownParameters;
    double delay = kPreviewDelay, interval = kLayerInterval;  // seconds
    // True if the run reports layers; set before Progress has the number of tokens.
    std::atomic<bool> is_active{false};
  };
  void watch(std::shared_ptr<LayerWatch> watch);  // null: no watch
  std::shared_ptr<const Trace> run(const RunSpec& spec);
  // Adds the model's losses to the trace (taps "loss.total", ...), and their gradients
  // ("gradient.WEIGHT") for every trained weight.
  struct Training {
    bool losses = false, gradients = false;
  };
  std::shared_ptr<const Trace> run(const RunSpec& spec, Training training);
  // Output, time and work of a run on the CPU without recording. Tokens that exit early skip later
  // layers. Not available for imported tensors.
  struct InferenceOnly {
    Output output;
    double milliseconds = 0;
    Work work;
  };
  InferenceOnly run_inference_only(const RunSpec& spec);
  // Output of a run on the CPU whose vectors pass through `probe`. The taps are recorded as in
  // run(), so early exits compute all tokens. gradients: the tape of all layers is kept. Not
  // available for imported tensors.
  Output run_probed(const RunSpec& spec, const Probe& probe, bool gradients);
  // The run's checkpoint, and its datastore (null without retrieval).
  std::shared_ptr<const Checkpoint> checkpoint(const RunSpec& spec) const;
  std::shared_ptr<const Store> contexts(const RunSpec& spec) const;
  // Runs the session's model and computes the requested findings that have Finding::with_run.
  Traces observe(const Session& session, const std::vector<FindingRequest>& requests);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// True if layers are shown as they are computed: in large models that run each layer once.
bool shows_layers(const ModelConfig& config, Index min_parameters = kMinShownParameters);
// "layers 1 to 3 of 22"
std::string first_layers_label(Index layers, Index total);
// Number of warm runs, whose median time is reported, after a first run of this duration. Returns 0
// if the first run took too long to repeat; the first run's time is then reported.
Index warm_runs_after(double milliseconds);

}  // namespace attnscope
