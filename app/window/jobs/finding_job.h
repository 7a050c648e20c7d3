// Makes the findings that are made beside the window's runs (Finding::beside_runs), each on a
// thread of its own.
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

namespace attnscope::window {

class FindingJob {
 public:
  explicit FindingJob(const Finding& finding) : finding_(finding) {}
  ~FindingJob();  // cancels and joins
  FindingJob(const FindingJob&) = delete;
  FindingJob& operator=(const FindingJob&) = delete;

  // Starts what the state's view asks for, puts progress and results into the state. Whether there
  // is something new to draw. On the window's thread.
  bool update(State& state);
  void stop() const { stop_.request(); }  // without waiting
  void cancel();
  const std::string& id() const { return finding_.id; }

 private:
  struct Shared {  // with the worker
    std::mutex mutex;
    std::atomic<double> share{0};
    std::atomic<bool> done{false};
    Findings found;  // guarded, as is:
    std::string problem;
  };
  void start(const Experiment& experiment);

  const Finding& finding_;
  std::optional<Experiment> asked_;  // what runs or was last done
  std::shared_ptr<Shared> shared_;
  Stop stop_;
  std::thread worker_;
};

// One for each such finding.
class FindingJobs {
 public:
  FindingJobs();
  bool update(State& state);  // as each
  void stop() const;          // all, without waiting
  void cancel();              // all
  void cancel(std::string_view id);

 private:
  std::vector<std::unique_ptr<FindingJob>> jobs_;
};

}  // namespace attnscope::window
