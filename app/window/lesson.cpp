#include "app/window/lesson.h"

#include <algorithm>
#include <utility>

#include "app/window/files.h"
#include "app/window/state.h"

namespace attnscope::window {

void read_lessons(LessonState& now) {
  if (!now.lessons.empty() || !now.problem.empty()) return;
  try {
    now.lessons = bundled_lessons();
  } catch (const std::exception& e) {
    now.problem = e.what();
  }
}

void show_step(State& state, std::size_t step) {
  LessonState& now = state.lesson;
  now.step = std::min(step, now.lesson->steps.size() - 1);
  now.scroll = {};
  state.presentation.black = false;
  Session next = now.lesson->steps[now.step].session;
  next.run.backend = state.session->run.backend;
  set_session(state, share(std::move(next)));
}

void start_lesson(State& state, const Lesson& lesson) {
  LessonState& now = state.lesson;
  if (now.lesson == nullptr) now.saved_session = state.session.snapshot();
  now.lesson = std::make_shared<const Lesson>(lesson);
  state.dialogs.lessons.open = false;
  now.previous_lessons.clear();
  now.clock_start = state.seconds;
  now.has_presented = state.presentation.on;
  read_lessons(now);
  show_step(state, 0);
}

void leave_lesson(State& state) {
  if (state.lesson.lesson == nullptr) return;
  state.lesson.lesson.reset();
  state.lesson.notes = false;
  set_session(state, state.lesson.saved_session);
  state.notify("Your own text and settings are restored.");
}

const Lesson* lesson_after_current(const LessonState& now) {
  if (now.lesson == nullptr) return nullptr;
  const auto found = std::ranges::find(now.lessons, now.lesson->id, &Lesson::id);
  return found != now.lessons.end() && found + 1 != now.lessons.end() ? &*(found + 1) : nullptr;
}

bool has_next_step(const State& state) {
  const LessonState& now = state.lesson;
  if (now.lesson == nullptr) return false;
  const bool has_more_text = state.presentation.on && now.scroll.more_below;
  return has_more_text || now.step + 1 < now.lesson->steps.size() ||
         lesson_after_current(now) != nullptr;
}

void next_step(State& state) {
  LessonState& now = state.lesson;
  if (state.presentation.black) {  // first ends the black screen
    state.presentation.black = false;
  } else if (state.presentation.on && now.scroll.more_below) {
    now.scroll.turn_page = true;
  } else if (now.step + 1 < now.lesson->steps.size()) {
    show_step(state, now.step + 1);
  } else if (const Lesson* next = lesson_after_current(now)) {
    now.previous_lessons.push_back(now.lesson);
    now.lesson = std::make_shared<const Lesson>(*next);
    show_step(state, 0);
  }
}

bool has_previous_step(const State& state) {
  const LessonState& now = state.lesson;
  return now.lesson != nullptr && (now.step > 0 || !now.previous_lessons.empty());
}

void previous_step(State& state) {
  LessonState& now = state.lesson;
  if (now.step > 0) {
    show_step(state, now.step - 1);
  } else if (!now.previous_lessons.empty()) {
    now.lesson = std::move(now.previous_lessons.back());
    now.previous_lessons.pop_back();
    show_step(state, now.lesson->steps.size() - 1);
  }
}

void set_presenting(State& state, bool on) {
  state.presentation.on = on;
  state.presentation.black = false;
  if (!on || std::exchange(state.lesson.has_presented, true)) return;
  state.lesson.clock_start = state.seconds;
}

void leave_presentation(State& state) {
  if (state.presentation.black) {
    state.presentation.black = false;
  } else {
    set_presenting(state, false);
  }
}

}  // namespace attnscope::window
