#include "app/window/lesson.h"

#include <algorithm>

#include "app/window/files.h"
#include "app/window/state.h"

namespace attnscope::window {

void show_step(State& state, std::size_t step) {
  LessonState& now = state.lesson;
  now.step = std::min(step, now.lesson->steps.size() - 1);
  Experiment next = now.lesson->steps[now.step].experiment;
  next.backend = state.experiment.backend;
  set_experiment(state, next);
}

void start_lesson(State& state, const Lesson& lesson) {
  if (state.lesson.lesson == nullptr) state.lesson.before = state.experiment;
  state.lesson.lesson = std::make_shared<const Lesson>(lesson);
  state.lesson.list_open = false;
  show_step(state, 0);
}

void leave_lesson(State& state) {
  if (state.lesson.lesson == nullptr) return;
  state.lesson.lesson.reset();
  set_experiment(state, state.lesson.before);
  state.say("Your own text and settings are back.");
}

}  // namespace attnscope::window
