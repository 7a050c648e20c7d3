// Runs on a worker thread. A newer request cancels an older one.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/progress.h"
#include "core/experiment/compatible_choice.h"
#include "core/experiment/run.h"

namespace attnscope {

// Number of leading tokens in the preview of a run of `tokens` tokens; 0: no preview, because the
// text is short. In a causal model, these rows do not depend on later tokens.
Index preview_tokens(Index tokens);
// Session of the preview; nullopt if there is none, or if it would not show a part of the complete
// picture: inputs other than texts, targets, comparisons, interventions, zoomed maps, selected
// segments, pins beyond the preview, and texts cut at their beginning.
std::optional<Session> preview_session(const Session& session, Index tokens);

class Runner {
 public:
  struct Outcome {
    std::shared_ptr<const Session> session{};  // for a preview, with fewer tokens than requested
    Index preview_of_tokens = 0;   // total tokens if `trace` has only the first ones; else 0
    Index preview_of_layers = 0;   // total layers if `trace` has only the first ones; else 0
    bool awaits_findings = false;  // `trace` is complete; findings follow with the next outcome
    std::shared_ptr<const Trace> trace;  // null on failure, see `error`
    Findings findings{};                 // see Traces
    std::exception_ptr error{};
    std::optional<CompatibleChoice> offer{};  // settings that resolve `error`, see offer_after()
  };

  // `wake` is called from the worker whenever an outcome is ready (glfwPostEmptyEvent).
  Runner(BackendProvider backends, std::function<void()> wake);
  ~Runner();  // cancels and joins

  // Cancels the running request and replaces a pending one. findings: see ExperimentRun::observe().
  void request(std::shared_ptr<const Session> session, std::vector<FindingRequest> findings = {});
  void cancel();
  bool busy() const;
  double busy_seconds() const;          // duration of the running request; 0 if idle
  Progress::Snapshot progress() const;  // progress of the running request
  bool poll(Outcome& outcome);          // false if there is no new outcome; never blocks

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
