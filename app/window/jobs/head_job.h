// Measures heads over a file of texts, beside the window and its runs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/window/state.h"

namespace attnscope::window {

// Whether the settings' view orders heads by what they measure.
bool sorts_heads(const ViewSettings& settings);

class HeadJob {
 public:
  HeadJob() = default;
  ~HeadJob();  // cancels and joins
  HeadJob(const HeadJob&) = delete;
  HeadJob& operator=(const HeadJob&) = delete;

  // Starts what the state's view asks for, puts progress and results into the state. Whether there
  // is something new to draw. On the window's thread.
  bool update(State& state);
  void cancel();

 private:
  struct Shared {  // with the worker
    std::mutex mutex;
    std::atomic<double> share{0};
    std::atomic<bool> done{false};
    std::shared_ptr<const HeadTable> table;  // guarded, as is:
    std::string problem;
  };
  void start(const Experiment& experiment);

  std::optional<Experiment> asked_;  // what runs or was last done
  std::shared_ptr<Shared> shared_;
  Stop stop_;
  std::thread worker_;
};

}  // namespace attnscope::window
