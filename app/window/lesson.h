// A lesson that goes on: its steps as experiments. No drawing here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/lesson/lesson.h"

namespace attnscope::window {

struct State;

// How the step's words stand where they are drawn.
struct LessonWords {
  bool more_below = false;  // some are out of sight
  bool turn_page = false;   // asked for: the next of them
};

// As part of the window's state.
struct LessonState {
  std::shared_ptr<const Lesson> lesson;  // null: none
  std::size_t step = 0;
  bool notes = false;   // whether the speaker's have a window of their own
  double began = 0;     // of the window's clock: what the speaker's counts from
  bool staged = false;  // the stage was entered since
  LessonWords words;
  Experiment before;        // the person's own, given back at the end
  bool list_open = false;   // the dialog to choose one
  int chosen = 0;           // in it, by the arrow keys
  std::vector<Lesson> all;  // the bundled ones, read when they are first asked for
  std::string problem;      // why there are none
  std::vector<std::shared_ptr<const Lesson>> trail;  // those that led to this one
};

// Reads the bundled lessons, where they have not been; says in `problem` why it cannot.
void read_lessons(LessonState& now);

void start_lesson(State& state, const Lesson& lesson);
void show_step(State& state, std::size_t step);  // moved into what there is
void leave_lesson(State& state);

// The bundled lesson after the one that goes on; null: there is none.
const Lesson* lesson_after(const State& state);
// On stage first to the words that are out of sight; after the last step to the next lesson.
void next_step(State& state);
bool has_next_step(const State& state);
// Before the first step back to the lesson that led here.
void step_before(State& state);
bool has_step_before(const State& state);

// In front of an audience, or not any more. The speaker's clock begins with the first time.
void set_presenting(State& state, bool on);
// What Escape does there: light first where it is black.
void leave_stage(State& state);

}  // namespace attnscope::window
