#include "app/window/lesson.h"

#include <gtest/gtest.h>

#include "app/window/actions/actions.h"
#include "app/window/state.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

Lesson make_lesson(const std::string& id, std::size_t steps) {
  Lesson lesson;
  lesson.id = id;
  lesson.steps.resize(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    lesson.steps[i].session.run.text = id + " " + std::to_string(i);
  }
  return lesson;
}

// State in the first of two lessons.
State state_with_lessons() {
  State state;
  state.lesson.lessons = {make_lesson("first", 2), make_lesson("second", 3)};
  start_lesson(state, state.lesson.lessons[0]);
  return state;
}

TEST(LessonState, LastStepLeadsToNextLessonAndBack) {
  State state = state_with_lessons();
  EXPECT_FALSE(has_previous_step(state));
  next_step(state);
  EXPECT_EQ(state.session->run.text, "first 1");
  ASSERT_NE(lesson_after_current(state.lesson), nullptr);
  EXPECT_EQ(lesson_after_current(state.lesson)->id, "second");
  next_step(state);
  EXPECT_EQ(state.lesson.lesson->id, "second");
  EXPECT_EQ(state.session->run.text, "second 0");
  EXPECT_TRUE(has_previous_step(state));
  previous_step(state);
  EXPECT_EQ(state.session->run.text, "first 1");
  previous_step(state);
  EXPECT_FALSE(has_previous_step(state));
  state.lesson.step = 1;
  next_step(state);
  show_step(state, 2);
  EXPECT_EQ(lesson_after_current(state.lesson), nullptr);
  EXPECT_FALSE(has_next_step(state));
  EXPECT_FALSE(action("lesson_on").enabled(state));
  action("lesson_first").run(state);
  EXPECT_EQ(state.session->run.text, "second 0");
  action("lesson_last").run(state);
  EXPECT_EQ(state.session->run.text, "second 2");
}

// On stage, hidden text is scrolled into view before the next step.
TEST(LessonState, ScrollsWordsBeforeNextStep) {
  State state = state_with_lessons();
  state.lesson.scroll.has_more_below = true;
  set_presenting(state, true);
  next_step(state);
  EXPECT_EQ(state.lesson.step, 0U);
  EXPECT_TRUE(state.lesson.scroll.turn_page);
  set_presenting(state, false);
  next_step(state);
  EXPECT_EQ(state.lesson.step, 1U);
  EXPECT_FALSE(state.lesson.scroll.has_more_below);
}

TEST(LessonState, StepEndsBlackScreen) {
  State state = state_with_lessons();
  set_presenting(state, true);
  state.presentation.is_black = true;
  next_step(state);
  EXPECT_FALSE(state.presentation.is_black);
  EXPECT_EQ(state.lesson.step, 0U);
  state.presentation.is_black = true;
  show_step(state, 1);
  EXPECT_FALSE(state.presentation.is_black);
}

// The speaker's clock starts when the stage first opens.
TEST(LessonState, ClockStartsWithFirstPresentation) {
  State state;
  state.seconds = 10;
  state.lesson.lessons = {make_lesson("first", 2)};
  start_lesson(state, state.lesson.lessons[0]);
  EXPECT_EQ(state.lesson.clock_start, 10);
  state.seconds = 60;
  set_presenting(state, true);
  EXPECT_EQ(state.lesson.clock_start, 60);
  state.seconds = 90;
  set_presenting(state, false);
  set_presenting(state, true);  // presenting again does not restart the clock
  EXPECT_EQ(state.lesson.clock_start, 60);
  action("lesson_clock").run(state);
  EXPECT_EQ(state.lesson.clock_start, 90);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
