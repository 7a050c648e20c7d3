// Progress line on stderr.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/experiment/run.h"

namespace attnscope::command {

// Returns a callback that prints "measuring: 40 %", overwriting the line a few times per second on
// a terminal, otherwise for each tenth; prints nothing during the first half second.
std::function<void(std::size_t done, std::size_t all)> print_progress(const std::string& what);

// Prints the progress on a terminal during its lifetime: "layer 2 of 4, 40 %, about 12 s left";
// nothing during the first half second, and nothing into files.
class ProgressLine {
 public:
  explicit ProgressLine(const std::string& what = "");  // without a known share
  explicit ProgressLine(ExperimentRun& run);            // progress of its runs
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  Progress& progress() { return *progress_; }

 private:
  void print();

  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  std::mutex mutex_;
  std::condition_variable ending_;
  bool over_ = false;  // guarded by the mutex
  std::thread thread_;
};

}  // namespace attnscope::command
