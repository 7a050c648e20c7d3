// The running lesson: its steps as sessions. No drawing here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/lesson/lesson.h"

namespace attnscope::window {

struct State;

struct LessonScroll {
  bool has_more_below = false;  // part of the text is out of sight
  bool turn_page = false;       // request: scroll to the next part
};

struct LessonState {
  std::shared_ptr<const Lesson> lesson;  // null: none
  std::size_t step = 0;
  bool notes = false;          // the window of the speaker's notes is open
  double clock_start = 0;      // zero of the speaker's clock, seconds of the window's clock
  bool has_presented = false;  // the lesson was shown in presentation mode
  LessonScroll scroll;
  std::shared_ptr<const Session> saved_session;  // session before the lesson, restored at its end
  std::vector<Lesson> lessons;                   // bundled lessons, read on first use
  std::string problem;                           // reason why `lessons` cannot be read
  std::vector<std::shared_ptr<const Lesson>> previous_lessons;  // oldest first
};

// Reads the bundled lessons once; sets `problem` on failure.
void read_lessons(LessonState& lesson_state);

void start_lesson(State& state, const Lesson& lesson);
void show_step(State& state, std::size_t step);  // clamped to the last step
void leave_lesson(State& state);

// The bundled lesson after the running one; null: none.
const Lesson* lesson_after_current(const LessonState& lesson_state);
// Shows the next step or, after the last, the next lesson. In presentation mode, scrolls the text
// first.
void next_step(State& state);
bool has_next_step(const State& state);
// Shows the previous step or, from the first, the previous lesson.
void previous_step(State& state);
bool has_previous_step(const State& state);

// Presentation mode: large type, full screen, no panels.
struct PresentationState {
  bool is_on = false;
  bool is_black = false;     // black screen
  std::size_t monitors = 1;  // number of monitors when the presentation started
  double zoom = 1;           // user's factor on the type size
};

// Enters or leaves presentation mode. The first entry in a lesson restarts the speaker's clock.
void set_presenting(State& state, bool on);
// If the screen is black, only ends the black screen.
void leave_presentation(State& state);

}  // namespace attnscope::window
