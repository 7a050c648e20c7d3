// Dialog to choose a lesson.
#pragma once

namespace attnscope::window {

struct LessonList {
  bool open = false;
  int chosen = 0;  // row selected by the arrow keys
};

}  // namespace attnscope::window
