// A lesson that goes on: its steps as experiments. No drawing here.
#pragma once

#include <memory>

#include "core/lesson/lesson.h"

namespace attnscope::window {

struct State;

// As part of the window's state.
struct LessonState {
  std::shared_ptr<const Lesson> lesson;  // null: none
  std::size_t step = 0;
  bool notes = false;       // whether the speaker's are shown
  Experiment before;        // the person's own, given back at the end
  bool list_open = false;   // the dialog to choose one
  int chosen = 0;           // in it, by the arrow keys
  std::vector<Lesson> all;  // that the dialog offers, read when it first opens
  std::string problem;      // why there are none
};

void start_lesson(State& state, const Lesson& lesson);
void show_step(State& state, std::size_t step);  // moved into what there is
void leave_lesson(State& state);

}  // namespace attnscope::window
