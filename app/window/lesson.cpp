#include "app/window/lesson.h"

#include <algorithm>
#include <utility>

#include "app/window/files.h"
#include "app/window/state.h"

namespace attnscope::window {

void read_lessons(LessonState& lesson_state) {
  if (!lesson_state.lessons.empty() || !lesson_state.problem.empty()) return;
  try {
    lesson_state.lessons = bundled_lessons();
  } catch (const std::exception& e) {
    lesson_state.problem = e.what();
  }
}

void show_step(State& state, std::size_t step) {
  LessonState& lesson_state = state.lesson;
  lesson_state.step = std::min(step, lesson_state.lesson->steps.size() - 1);
  lesson_state.scroll = {};
  state.presentation.is_black = false;
  Session next = lesson_state.lesson->steps[lesson_state.step].session;
  next.run.backend = state.session->run.backend;
  set_session(state, share(std::move(next)));
}

void start_lesson(State& state, const Lesson& lesson) {
  LessonState& lesson_state = state.lesson;
  if (lesson_state.lesson == nullptr) lesson_state.saved_session = state.session.snapshot();
  lesson_state.lesson = std::make_shared<const Lesson>(lesson);
  state.dialogs.lessons.open = false;
  lesson_state.previous_lessons.clear();
  lesson_state.clock_start = state.seconds;
  lesson_state.has_presented = state.presentation.is_on;
  read_lessons(lesson_state);
  show_step(state, 0);
}

void leave_lesson(State& state) {
  if (state.lesson.lesson == nullptr) return;
  state.lesson.lesson.reset();
  state.lesson.notes = false;
  set_session(state, state.lesson.saved_session);
  state.notify("Your own text and settings are restored.");
}

const Lesson* lesson_after_current(const LessonState& lesson_state) {
  if (lesson_state.lesson == nullptr) return nullptr;
  const auto found = std::ranges::find(lesson_state.lessons, lesson_state.lesson->id, &Lesson::id);
  return found != lesson_state.lessons.end() && found + 1 != lesson_state.lessons.end()
             ? &*(found + 1)
             : nullptr;
}

bool has_next_step(const State& state) {
  const LessonState& lesson_state = state.lesson;
  if (lesson_state.lesson == nullptr) return false;
  const bool has_more_text = state.presentation.is_on && lesson_state.scroll.has_more_below;
  return has_more_text || lesson_state.step + 1 < lesson_state.lesson->steps.size() ||
         lesson_after_current(lesson_state) != nullptr;
}

void next_step(State& state) {
  LessonState& lesson_state = state.lesson;
  if (state.presentation.is_black) {  // only ends the black screen
    state.presentation.is_black = false;
  } else if (state.presentation.is_on && lesson_state.scroll.has_more_below) {
    lesson_state.scroll.turn_page = true;
  } else if (lesson_state.step + 1 < lesson_state.lesson->steps.size()) {
    show_step(state, lesson_state.step + 1);
  } else if (const Lesson* next = lesson_after_current(lesson_state)) {
    lesson_state.previous_lessons.push_back(lesson_state.lesson);
    lesson_state.lesson = std::make_shared<const Lesson>(*next);
    show_step(state, 0);
  }
}

bool has_previous_step(const State& state) {
  const LessonState& lesson_state = state.lesson;
  return lesson_state.lesson != nullptr &&
         (lesson_state.step > 0 || !lesson_state.previous_lessons.empty());
}

void previous_step(State& state) {
  LessonState& lesson_state = state.lesson;
  if (lesson_state.step > 0) {
    show_step(state, lesson_state.step - 1);
  } else if (!lesson_state.previous_lessons.empty()) {
    lesson_state.lesson = std::move(lesson_state.previous_lessons.back());
    lesson_state.previous_lessons.pop_back();
    show_step(state, lesson_state.lesson->steps.size() - 1);
  }
}

void set_presenting(State& state, bool on) {
  state.presentation.is_on = on;
  state.presentation.is_black = false;
  if (!on || std::exchange(state.lesson.has_presented, true)) return;
  state.lesson.clock_start = state.seconds;
}

void leave_presentation(State& state) {
  if (state.presentation.is_black) {
    state.presentation.is_black = false;
  } else {
    set_presenting(state, false);
  }
}

}  // namespace attnscope::window
