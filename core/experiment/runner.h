// Carries experiments out, off the caller's thread. A newer request cancels an older one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/experiment/experiment.h"
#include "core/experiment/trace.h"

namespace attnscope {

struct Checkpoint;  // core/checkpoint/checkpoint.h

// Gives a backend for a choice, or says why there is none. Called on the worker thread, where it
// may make a GL context current.
struct BackendOffer {
  Backend* backend = nullptr;  // null: refused
  std::string note;            // why not, or what a viewer should know ("GPU: no EGL")
};
using BackendProvider = std::function<BackendOffer(BackendChoice)>;
BackendProvider cpu_only();

// One experiment, on the calling thread. Checkpoints are cached by the runner between calls.
class ExperimentRun {
 public:
  explicit ExperimentRun(BackendProvider backends);
  ~ExperimentRun();
  std::shared_ptr<const Trace> run(const Experiment& experiment, const Stop& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same on a worker thread of its own.
class Runner {
 public:
  struct Outcome {
    Experiment experiment;
    std::shared_ptr<const Trace> trace;  // null: `error` says why
    std::string error;
  };

  // `wake` is called from the worker whenever an outcome is ready (glfwPostEmptyEvent).
  Runner(BackendProvider backends, std::function<void()> wake);
  ~Runner();  // cancels and joins

  void request(const Experiment& experiment);  // cancels what runs; only the newest waits
  void cancel();
  bool busy() const;
  double busy_seconds() const;  // since the running request started
  bool poll(Outcome& outcome);  // the newest finished one, once; never waits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
