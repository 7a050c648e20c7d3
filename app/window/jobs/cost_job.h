// Cost curves measured on a thread of their own.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "core/analysis/cost_curve.h"

namespace attnscope::window {

class CostJob {
 public:
  explicit CostJob(CostRequest request);
  ~CostJob();  // cancels and waits
  CostJob(const CostJob&) = delete;
  CostJob& operator=(const CostJob&) = delete;

  void cancel() { stop_.request(); }
  bool over() const { return over_; }
  double share() const { return share_; }   // that is done
  int version() const { return version_; }  // changes when there is more
  CostCurves curves() const;                // what there is by now
  // Once it is over: what went wrong; empty when nothing did.
  const std::string& problem() const { return problem_; }

 private:
  Stop stop_;
  std::atomic<double> share_{0};
  std::atomic<int> version_{0};
  std::atomic<bool> over_{false};
  mutable std::mutex mutex_;
  CostCurves curves_;  // guarded
  std::string problem_;
  std::thread thread_;
};

}  // namespace attnscope::window
