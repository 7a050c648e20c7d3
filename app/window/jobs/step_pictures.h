// Thumbnails of the running lesson's steps, computed in the background while the window is idle.
// Kept until the program ends.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/window/jobs/background_task.h"
#include "core/figure/image.h"

namespace attnscope {
struct Lesson;
}

namespace attnscope::window {

struct StepPictures {
  // Images by session and theme; an empty image if the step has no content.
  using Images = std::map<std::string, std::shared_ptr<const Image>>;

  Images images;
  std::vector<std::string> keys;         // keys of the running lesson's steps
  std::shared_ptr<const Lesson> lesson;  // lesson of `keys`
  std::size_t step = 0;                  // current step at the last update
  bool dark = false;                     // theme of `keys`
  std::unique_ptr<BackgroundTask<Images>> task;
  // The task pauses until this time, in seconds of the steady clock.
  std::shared_ptr<std::atomic<double>> resume_time = std::make_shared<std::atomic<double>>(0);
};

}  // namespace attnscope::window
