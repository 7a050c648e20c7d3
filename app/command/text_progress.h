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
// each tenth; nothing of work that takes less than a second.
std::function<void(std::size_t done, std::size_t all)> print_progress(const std::string& what);

// While it lives, a line on a terminal says how far runs have come: "layer 2 of 4, 40 %, about 12 s
// left"; nothing of those that take less than a second, and nothing into files.
class RunLine {
 public:
  explicit RunLine(ExperimentRun& run);
  ~RunLine();
  RunLine(const RunLine&) = delete;
  RunLine& operator=(const RunLine&) = delete;

 private:
  void print();

  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  std::mutex mutex_;
  std::condition_variable ending_;
  bool over_ = false;  // guarded
  std::thread thread_;
};

}  // namespace attnscope::command
