// How far work on a file has come, as a line on stderr.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/experiment/runner.h"

namespace attnscope::command {

// Writes "measuring: 40 %" over itself, at most a few times a second, and only on a terminal or for
// each tenth; nothing of work that takes less than half a second.
std::function<void(std::size_t done, std::size_t all)> print_progress(const std::string& what);

// While it lives, a line on a terminal says how far work has come: "layer 2 of 4, 40 %, about 12 s
// left"; nothing of what takes less than half a second, and nothing into files.
class ProgressLine {
 public:
  explicit ProgressLine(const std::string& what = "");  // with nothing known of its share
  explicit ProgressLine(ExperimentRun& run);            // how far its runs have come
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  Progress& progress() { return *progress_; }

 private:
  void print();

  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  std::mutex mutex_;
  std::condition_variable ending_;
  bool over_ = false;  // guarded
  std::thread thread_;
};

}  // namespace attnscope::command
