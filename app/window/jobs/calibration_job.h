// A threshold of exits calibrated on a thread of its own.
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/model/structure.h"
#include "core/training/calibrate.h"

namespace attnscope::window {

// Which model, which texts, how.
struct CalibrationTask {
  std::string model;
  Structure structure;                      // that a person chose for it
  std::filesystem::path text, other;        // `other` may be empty
  std::string own_text;                     // in the place of `text` where that is empty
  std::optional<CalibrationMethod> method;  // none: what the rule was published with
  CalibrationRequest request;               // but for the method
};

class CalibrationJob {
 public:
  explicit CalibrationJob(CalibrationTask task);
  ~CalibrationJob();  // cancels and waits
  CalibrationJob(const CalibrationJob&) = delete;
  CalibrationJob& operator=(const CalibrationJob&) = delete;

  void cancel() { stop_.request(); }
  bool over() const { return over_; }
  double share() const { return share_; }   // that is done
  int version() const { return version_; }  // changes when there is more
  Calibration calibration() const;          // what there is by now
  // Once it is over: what went wrong; empty when nothing did, or a person stopped it.
  const std::string& problem() const { return problem_; }

 private:
  void run(const CalibrationTask& task);

  Stop stop_;
  std::atomic<double> share_{0};
  std::atomic<int> version_{0};
  std::atomic<bool> over_{false};
  mutable std::mutex mutex_;
  Calibration calibration_;  // guarded
  std::string problem_;
  std::thread thread_;
};

}  // namespace attnscope::window
