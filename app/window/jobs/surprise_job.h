// The pairs of a run that are worth pointing at, looked for on a thread of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/experiment/striking.h"

namespace attnscope::window {

class SurpriseJob {
 public:
  SurpriseJob(std::shared_ptr<const Trace> trace, std::size_t most);
  ~SurpriseJob();  // cancels and waits
  SurpriseJob(const SurpriseJob&) = delete;
  SurpriseJob& operator=(const SurpriseJob&) = delete;

  const std::shared_ptr<const Trace>& of() const { return trace_; }
  void cancel() { stop_.request(); }
  bool over() const { return over_; }
  bool wait(double seconds) const;  // at most so long; whether it is over
  double share() const { return progress_.now().share; }
  // Once it is over: what went wrong; empty when nothing did, or a person stopped it.
  const std::string& problem() const { return problem_; }
  bool cancelled() const { return cancelled_; }
  std::vector<StrikingPair> take() { return std::move(pairs_); }

 private:
  std::shared_ptr<const Trace> trace_;
  Stop stop_;
  Progress progress_;
  mutable std::mutex mutex_;  // for waiting
  mutable std::condition_variable ended_;
  std::atomic<bool> over_{false};
  bool cancelled_ = false;
  std::string problem_;
  std::vector<StrikingPair> pairs_;
  std::thread thread_;
};

}  // namespace attnscope::window
