// Carries experiments out, off the caller's thread. A newer request cancels an older one.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/finding.h"
#include "core/trace/trace.h"

namespace attnscope {

// Gives a backend for a choice, or says why there is none. Called on the worker thread, where it
// may make a GL context current.
struct BackendOffer {
  Backend* backend = nullptr;  // null: refused
  std::string note;            // why not, or what a viewer should know ("GPU: no EGL")
};
using BackendProvider = std::function<BackendOffer(BackendChoice)>;
BackendProvider cpu_only();

// Of a model with at least so many parameters a run of fewer tokens takes nearly as long, since all
// of its weights are read: its layers are shown as they come, in the place of a preview.
inline constexpr Index kByLayerFrom = 250'000'000;
// Seconds before anything is shown of a run that goes on, and between two looks at its layers.
inline constexpr double kPreviewAfter = 0.4, kBetweenLayers = 0.2;

// One experiment, on the calling thread. The last traces are kept between calls, so that a change
// of one of two runs that are compared does not repeat the other; models come from the store.
class ExperimentRun {
 public:
  explicit ExperimentRun(BackendProvider backends,
                         std::shared_ptr<ModelStore> models = model_store());
  ~ExperimentRun();
  // Tells it from now on how far each run has come; null: nobody.
  void tell(std::shared_ptr<Progress> progress);
  // Who sees the layers of large models as they come, while a run goes on.
  struct LayerWatch {
    // The record of the first layers, as one of a model that has no more and predicts nothing, and
    // how many there will be.
    std::function<void(std::shared_ptr<const Trace>, Index layers)> take;
    Index from = kByLayerFrom;                               // parameters
    double after = kPreviewAfter, between = kBetweenLayers;  // seconds
    // Set for a model whose layers come so, before its tokens are told.
    std::atomic<bool> on{false};
  };
  void watch(std::shared_ptr<LayerWatch> watch);  // null: nobody
  std::shared_ptr<const Trace> run(const Experiment& experiment, const Stop& stop);
  // With the losses of the model ("loss.total" among the taps), and their gradients
  // ("gradient.WEIGHT") for every weight that is trained.
  struct Training {
    bool losses = false, gradients = false;
  };
  std::shared_ptr<const Trace> run(const Experiment& experiment, Training training,
                                   const Stop& stop);
  // The same without a record, on the CPU: what it gave, how long it took and what was done. Tokens
  // that leave early are not computed further. Not of tensors.
  struct Bare {
    Output output;
    double milliseconds = 0;
    Work work;
  };
  Bare run_bare(const Experiment& experiment, const Stop& stop);
  // What the experiment's model was stored as, and the contexts it retrieves from (null: none).
  std::shared_ptr<const Checkpoint> checkpoint(const Experiment& experiment) const;
  std::shared_ptr<const Store> contexts(const Experiment& experiment) const;
  // With what is worked out with a run, of the findings of these names.
  Traces observe(const Experiment& experiment, const std::vector<std::string>& names,
                 const Stop& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether this model's are: it passes its layers once.
bool comes_by_layer(const ModelConfig& config, Index from = kByLayerFrom);
// "layers 1 to 3 of 22"
std::string first_layers_words(Index layers, Index all);
// Runs that take longer than kPreviewAfter are preceded by a preview of so many of their tokens,
// the first ones; 0: of none, since too few would be left out. Each of a causal model's first rows
// is as it will be.
Index preview_tokens(Index tokens);
// The run of them alone. Nothing where that would not show what is looked at, or other tokens.
std::optional<Experiment> preview_of(const Experiment& experiment, Index tokens);

// Times that are compared are medians of warm runs: of so many behind a first one that took so
// long; 0: it took so long that it must do.
Index warm_runs_after(double milliseconds);

// The same on a worker thread of its own.
class Runner {
 public:
  struct Outcome {
    Experiment experiment;
    // Of so many tokens it has the first ones, and the run goes on; 0: is whole.
    Index preview_of = 0;
    Index layers_of = 0;                 // likewise of so many layers
    std::shared_ptr<const Trace> trace;  // null: `error` says why
    Findings findings;                   // see Traces
    std::string error;
  };

  // `wake` is called from the worker whenever an outcome is ready (glfwPostEmptyEvent).
  Runner(BackendProvider backends, std::function<void()> wake);
  ~Runner();  // cancels and joins

  // Cancels what runs; only the newest waits. `names`: see observe().
  void request(const Experiment& experiment, std::vector<std::string> names = {});
  void cancel();
  bool busy() const;
  double busy_seconds() const;     // since the running request started
  Progress::Now progress() const;  // of that request
  bool poll(Outcome& outcome);     // the newest finished one, once; never waits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
