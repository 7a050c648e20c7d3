// Thumbnails of a lesson's steps, computed on their own thread while the window is idle. Kept until
// the program ends.
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

// Width over height of the textures.
inline constexpr double kStepPictureRatio = 1.5;

class StepPictures {
 public:
  // Delay after a step, so that quick navigation is not slowed down; seconds.
  static constexpr double kRestSeconds = 0.7;

  StepPictures() = default;
  ~StepPictures();  // requires the window's context to be current, as update()
  StepPictures(const StepPictures&) = delete;
  StepPictures& operator=(const StepPictures&) = delete;

  // Starts computing missing thumbnails of the running lesson and takes finished ones. True if
  // something changed.
  bool update(const State& state);
  // Seconds until the next start; negative: none planned.
  double due(const State& state) const;
  // OpenGL texture of a step of the running lesson, rows from the top; 0: not ready, or no content.
  unsigned int texture(std::size_t step) const;
  std::size_t made() const { return textures_.size(); }
  void cancel();

 private:
  // By experiment and theme.
  using Made = std::pair<std::string, Image>;
  struct Shared {  // with the worker
    std::atomic<bool> paused{false};
    std::mutex mutex;
    std::deque<Made> made;  // guarded
  };
  void start(const State& state);
  bool take();
  bool is_complete() const;

  std::map<std::string, unsigned int> textures_;  // 0: impossible
  const Lesson* lesson_ = nullptr;                // of the last or running worker
  std::vector<std::string> keys_;                 // of its steps
  std::size_t step_ = 0;                          // current step at the last update
  bool dark_ = false;
  double stepped_at_ = 0;  // time of the last step
  std::shared_ptr<Shared> shared_;
  Stop stop_;
  std::thread worker_;
};

}  // namespace attnscope::window
