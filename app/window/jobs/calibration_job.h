// Calibration of an exit threshold on its own thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/stop.h"
#include "core/model/structure.h"
#include "core/training/calibrate.h"

namespace attnscope::window {

// Model, texts and settings of a calibration.
struct CalibrationTask {
  std::string model;
  Structure structure;                      // the user's changes to the model's structure
  std::filesystem::path text, other;        // `other` may be empty
  std::string own_text;                     // used if `text` is empty
  std::optional<CalibrationMethod> method;  // none: the rule's published method
  CalibrationRequest request;               // except the method
};

class CalibrationJob {
 public:
  explicit CalibrationJob(CalibrationTask task);
  ~CalibrationJob();  // cancels and joins
  CalibrationJob(const CalibrationJob&) = delete;
  CalibrationJob& operator=(const CalibrationJob&) = delete;

  void cancel() { stop_.request(); }
  bool is_finished() const { return finished_; }
  double share() const { return share_; }   // completed, 0..1
  int version() const { return version_; }  // changes with every new result
  Calibration calibration() const;          // results so far
  // After the end: the error; empty: success or cancelled.
  const std::string& problem() const { return problem_; }

 private:
  void run(const CalibrationTask& task);

  Stop stop_;
  std::atomic<double> share_{0};
  std::atomic<int> version_{0};
  std::atomic<bool> finished_{false};
  mutable std::mutex mutex_;
  Calibration calibration_;  // guarded
  std::string problem_;
  std::thread thread_;
};

}  // namespace attnscope::window
