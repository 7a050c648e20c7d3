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

// Returns a callback that prints "measuring: 40%" on stderr. On a terminal it overwrites one line;
// otherwise it prints a line after every 10%. Prints nothing during the first half second.
std::function<void(std::size_t completed, std::size_t total)> print_progress(
    const std::string& label);

// Like print_progress() for a completed fraction in [0, 1]; prints nothing if stderr is not a
// terminal.
std::function<void(double fraction)> print_fraction(const std::string& label);

// Prints progress on stderr during its lifetime: "layer 2 of 4, 40%, about 12 s left". Prints
// nothing during the first half second, or if stderr is not a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(const std::string& label = "");  // prints `label` without a percentage
  explicit ProgressLine(ExperimentRun& run);             // progress of all runs that `run` executes
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  Progress& progress() { return *progress_; }

 private:
  void print();

  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  std::mutex mutex_;
  std::condition_variable finish_condition_;
  bool is_finished_ = false;  // guarded by the mutex
  std::thread thread_;
};

}  // namespace attnscope::command
