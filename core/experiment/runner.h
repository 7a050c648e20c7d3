// Runs on a worker thread. A newer request cancels an older one.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/progress.h"
#include "core/experiment/run.h"

namespace attnscope {

// Number of leading tokens in the preview of a run longer than kPreviewAfter; 0: no preview, since
// too few tokens would be omitted. The first rows of a causal model do not depend on later tokens.
Index preview_tokens(Index tokens);
// Session of the preview; nullopt if it would not show the same content, or other tokens.
std::optional<Session> preview_of(const Session& session, Index tokens);

class Runner {
 public:
  struct Outcome {
    std::shared_ptr<const Session> session;  // of a preview, with fewer tokens than requested
    // Total number of tokens of which this preview has the first ones; 0 for a final result.
    Index preview_of = 0;
    Index layers_of = 0;                 // likewise for layers
    std::shared_ptr<const Trace> trace;  // null on failure, see `error`
    Findings findings;                   // see Traces
    std::exception_ptr error;
  };

  // `wake` is called from the worker whenever an outcome is ready (glfwPostEmptyEvent).
  Runner(BackendProvider backends, std::function<void()> wake);
  ~Runner();  // cancels and joins

  // Cancels the running request; only the newest one waits. findings: see observe().
  void request(std::shared_ptr<const Session> session, std::vector<FindingRequest> findings = {});
  void cancel();
  bool busy() const;
  double busy_seconds() const;          // since the running request started
  Progress::Snapshot progress() const;  // of that request
  bool poll(Outcome& outcome);          // returns each newest result once; never blocks

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
