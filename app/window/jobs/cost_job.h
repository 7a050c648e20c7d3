// Measurement of cost curves on its own thread.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "core/analysis/cost_curve.h"
#include "core/base/stop.h"

namespace attnscope::window {

class CostJob {
 public:
  explicit CostJob(CostRequest request);
  ~CostJob();  // cancels and joins
  CostJob(const CostJob&) = delete;
  CostJob& operator=(const CostJob&) = delete;

  void cancel() { stop_.request(); }
  bool is_finished() const { return finished_; }
  double share() const { return share_; }   // completed, 0..1
  int version() const { return version_; }  // changes with every new result
  CostCurves curves() const;                // results so far
  // After the end: the error; empty: success.
  const std::string& problem() const { return problem_; }

 private:
  Stop stop_;
  std::atomic<double> share_{0};
  std::atomic<int> version_{0};
  std::atomic<bool> finished_{false};
  mutable std::mutex mutex_;
  CostCurves curves_;  // guarded
  std::string problem_;
  std::thread thread_;
};

}  // namespace attnscope::window
