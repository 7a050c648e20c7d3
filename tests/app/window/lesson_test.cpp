#include "app/window/lesson.h"

#include <gtest/gtest.h>

#include "app/window/actions/actions.h"
#include "app/window/state.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

Lesson of_steps(const std::string& id, std::size_t steps) {
  Lesson lesson;
  lesson.id = id;
  lesson.steps.resize(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    lesson.steps[i].experiment.text = id + " " + std::to_string(i);
  }
  return lesson;
}

// Two lessons that follow each other.
State with_lessons() {
  State state;
  state.lesson.all = {of_steps("first", 2), of_steps("second", 3)};
  start_lesson(state, state.lesson.all[0]);
  return state;
}

TEST(LessonState, TheLastStepLeadsToTheNextLessonAndBack) {
  State state = with_lessons();
  EXPECT_FALSE(has_step_before(state));
  next_step(state);
  EXPECT_EQ(state.experiment.text, "first 1");
  ASSERT_NE(lesson_after(state), nullptr);
  EXPECT_EQ(lesson_after(state)->id, "second");
  next_step(state);
  EXPECT_EQ(state.lesson.lesson->id, "second");
  EXPECT_EQ(state.experiment.text, "second 0");
  EXPECT_TRUE(has_step_before(state));
  step_before(state);
  EXPECT_EQ(state.experiment.text, "first 1");
  step_before(state);
  EXPECT_FALSE(has_step_before(state));
  state.lesson.step = 1;
  next_step(state);
  show_step(state, 2);
  EXPECT_EQ(lesson_after(state), nullptr);
  EXPECT_FALSE(has_next_step(state));
  EXPECT_FALSE(action("lesson_on").enabled(state));
  action("lesson_first").run(state);
  EXPECT_EQ(state.experiment.text, "second 0");
  action("lesson_last").run(state);
  EXPECT_EQ(state.experiment.text, "second 2");
}

// Words that are out of sight come before the next step, on stage alone.
TEST(LessonState, TurnsThePageOfWordsFirst) {
  State state = with_lessons();
  state.lesson.words.more_below = true;
  set_presenting(state, true);
  next_step(state);
  EXPECT_EQ(state.lesson.step, 0U);
  EXPECT_TRUE(state.lesson.words.turn_page);
  set_presenting(state, false);
  next_step(state);
  EXPECT_EQ(state.lesson.step, 1U);
  EXPECT_FALSE(state.lesson.words.more_below);
}

TEST(LessonState, AStepEndsTheBlack) {
  State state = with_lessons();
  set_presenting(state, true);
  state.black = true;
  next_step(state);
  EXPECT_FALSE(state.black);
  EXPECT_EQ(state.lesson.step, 0U);
  state.black = true;
  show_step(state, 1);
  EXPECT_FALSE(state.black);
}

// The speaker's clock counts from when the audience is first shown something.
TEST(LessonState, TheClockBeginsOnStage) {
  State state;
  state.seconds = 10;
  state.lesson.all = {of_steps("first", 2)};
  start_lesson(state, state.lesson.all[0]);
  EXPECT_EQ(state.lesson.began, 10);
  state.seconds = 60;
  set_presenting(state, true);
  EXPECT_EQ(state.lesson.began, 60);
  state.seconds = 90;
  set_presenting(state, false);
  set_presenting(state, true);  // a look aside
  EXPECT_EQ(state.lesson.began, 60);
  action("lesson_clock").run(state);
  EXPECT_EQ(state.lesson.began, 90);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
