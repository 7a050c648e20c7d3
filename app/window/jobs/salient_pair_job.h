// Search for a run's salient pairs on its own thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/progress.h"
#include "core/base/stop.h"
#include "core/experiment/salient_pairs.h"

namespace attnscope::window {

class SalientPairJob {
 public:
  SalientPairJob(std::shared_ptr<const Trace> trace, std::size_t max_pairs);
  ~SalientPairJob();  // cancels and joins
  SalientPairJob(const SalientPairJob&) = delete;
  SalientPairJob& operator=(const SalientPairJob&) = delete;

  const std::shared_ptr<const Trace>& trace() const { return trace_; }
  void cancel() { stop_.request(); }
  bool is_finished() const { return finished_; }
  bool wait(double seconds) const;  // with a timeout; true if it has ended
  double share() const { return progress_.snapshot().share; }
  // After the end: the error; empty: success or cancelled.
  const std::string& problem() const { return problem_; }
  bool was_cancelled() const { return cancelled_; }
  std::vector<SalientPair> take() { return std::move(pairs_); }

 private:
  std::shared_ptr<const Trace> trace_;
  Stop stop_;
  Progress progress_;
  mutable std::mutex mutex_;  // for waiting
  mutable std::condition_variable ended_;
  std::atomic<bool> finished_{false};
  bool cancelled_ = false;
  std::string problem_;
  std::vector<SalientPair> pairs_;
  std::thread thread_;
};

}  // namespace attnscope::window
