#include "app/window/lesson.h"

#include <algorithm>
#include <utility>

#include "app/window/files.h"
#include "app/window/state.h"

namespace attnscope::window {

void read_lessons(LessonState& now) {
  if (!now.all.empty() || !now.problem.empty()) return;
  try {
    now.all = bundled_lessons();
  } catch (const std::exception& e) {
    now.problem = e.what();
  }
}

void show_step(State& state, std::size_t step) {
  LessonState& now = state.lesson;
  now.step = std::min(step, now.lesson->steps.size() - 1);
  now.words = {};
  state.black = false;
  Experiment next = now.lesson->steps[now.step].experiment;
  next.backend = state.experiment.backend;
  set_experiment(state, next);
}

void start_lesson(State& state, const Lesson& lesson) {
  LessonState& now = state.lesson;
  if (now.lesson == nullptr) now.before = state.experiment;
  now.lesson = std::make_shared<const Lesson>(lesson);
  now.list_open = false;
  now.trail.clear();
  now.began = state.seconds;
  now.staged = state.presenting;
  read_lessons(now);
  show_step(state, 0);
}

void leave_lesson(State& state) {
  if (state.lesson.lesson == nullptr) return;
  state.lesson.lesson.reset();
  state.lesson.notes = false;
  set_experiment(state, state.lesson.before);
  state.say("Your own text and settings are back.");
}

const Lesson* lesson_after(const State& state) {
  const LessonState& now = state.lesson;
  if (now.lesson == nullptr) return nullptr;
  const auto here = std::ranges::find(now.all, now.lesson->id, &Lesson::id);
  return here != now.all.end() && here + 1 != now.all.end() ? &*(here + 1) : nullptr;
}

bool has_next_step(const State& state) {
  const LessonState& now = state.lesson;
  if (now.lesson == nullptr) return false;
  const bool more_words = state.presenting && now.words.more_below;
  return more_words || now.step + 1 < now.lesson->steps.size() || lesson_after(state) != nullptr;
}

void next_step(State& state) {
  LessonState& now = state.lesson;
  if (state.black) {  // what is there comes back first
    state.black = false;
  } else if (state.presenting && now.words.more_below) {
    now.words.turn_page = true;
  } else if (now.step + 1 < now.lesson->steps.size()) {
    show_step(state, now.step + 1);
  } else if (const Lesson* next = lesson_after(state)) {
    now.trail.push_back(now.lesson);
    now.lesson = std::make_shared<const Lesson>(*next);
    show_step(state, 0);
  }
}

bool has_step_before(const State& state) {
  const LessonState& now = state.lesson;
  return now.lesson != nullptr && (now.step > 0 || !now.trail.empty());
}

void step_before(State& state) {
  LessonState& now = state.lesson;
  if (now.step > 0) {
    show_step(state, now.step - 1);
  } else if (!now.trail.empty()) {
    now.lesson = std::move(now.trail.back());
    now.trail.pop_back();
    show_step(state, now.lesson->steps.size() - 1);
  }
}

void set_presenting(State& state, bool on) {
  state.presenting = on;
  state.black = false;
  if (!on || std::exchange(state.lesson.staged, true)) return;
  state.lesson.began = state.seconds;
}

void leave_stage(State& state) {
  if (state.black) {
    state.black = false;
  } else {
    set_presenting(state, false);
  }
}

}  // namespace attnscope::window
