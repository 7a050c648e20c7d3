// Small pictures of a lesson's steps, run and drawn on a thread of their own while the window has
// nothing else to do. Kept as long as the program runs.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/window/state.h"
#include "core/base/stop.h"
#include "core/figure/image.h"

namespace attnscope::window {

// What their textures are of: width over height.
inline constexpr double kStepPictureRatio = 1.5;

class StepPictures {
 public:
  // Steps that are turned fast are not in the way of their own runs: seconds.
  static constexpr double kRest = 0.7;

  StepPictures() = default;
  ~StepPictures();  // with the window's context current, as update()
  StepPictures(const StepPictures&) = delete;
  StepPictures& operator=(const StepPictures&) = delete;

  // Starts what the lesson that goes on lacks, and takes what is made. True when there is something
  // new to draw.
  bool update(const State& state);
  // Seconds until it wants to start; negative: it does not.
  double due(const State& state) const;
  // An OpenGL texture of a step of the lesson that goes on, rows from the top; 0: not made yet, or
  // there is nothing to show.
  unsigned int texture(std::size_t step) const;
  std::size_t made() const { return textures_.size(); }
  void cancel();

 private:
  // By experiment and theme.
  using Made = std::pair<std::string, Image>;
  struct Shared {  // with the worker
    std::atomic<bool> paused{false}, over{false};
    std::mutex mutex;
    std::deque<Made> made;  // guarded
  };
  void start(const State& state);
  bool take();
  bool is_complete() const;

  std::map<std::string, unsigned int> textures_;  // 0: it cannot be made
  const Lesson* lesson_ = nullptr;                // that the worker is at, or was last
  std::vector<std::string> keys_;                 // of its steps
  std::size_t step_ = 0;                          // that the person was at
  bool dark_ = false;
  double turned_ = 0;  // when that was
  std::shared_ptr<Shared> shared_;
  Stop stop_;
  std::thread worker_;
};

}  // namespace attnscope::window
