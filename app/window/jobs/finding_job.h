// Background findings (Finding::in_background), each computed on its own thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/window/state.h"
#include "core/base/stop.h"

namespace attnscope::window {

class FindingJob {
 public:
  explicit FindingJob(const Finding& finding) : finding_(finding) {}
  ~FindingJob();  // cancels and joins
  FindingJob(const FindingJob&) = delete;
  FindingJob& operator=(const FindingJob&) = delete;

  // Starts the finding if it is among the requests of the state's view, and stores progress and
  // results in the state. True if something changed. On the window's thread.
  bool update(State& state, const std::vector<FindingRequest>& requests);
  void stop() const { stop_.request(); }  // returns immediately
  void cancel();
  const std::string& id() const { return finding_.id; }

 private:
  struct Shared {  // with the worker
    std::mutex mutex;
    std::atomic<double> share{0};
    std::atomic<bool> done{false};
    Findings found;  // guarded, like `problem`
    std::string problem;
  };
  void start(const RunSpec& run, const FindingSettings& settings);

  const Finding& finding_;
  struct Asked {
    RunSpec run;
    FindingSettings settings;
  };
  std::optional<Asked> asked_;  // running or last computed
  std::shared_ptr<Shared> shared_;
  Stop stop_;
  std::thread worker_;
};

// All background findings.
class FindingJobs {
 public:
  FindingJobs();
  bool update(State& state);  // of each job
  void stop() const;          // all; returns immediately
  void cancel();              // all
  void cancel(std::string_view id);

 private:
  std::vector<std::unique_ptr<FindingJob>> jobs_;
};

}  // namespace attnscope::window
