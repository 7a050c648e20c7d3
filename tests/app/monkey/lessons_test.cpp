// Every step of every bundled lesson, in the window and on stage.
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "app/window/lesson.h"
#include "core/lesson/lesson.h"
#include "tests/app/events/desktop.h"
#include "tests/app/monkey/rehearsal.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

class AllLessons : public ::testing::Test {
 protected:
  static constexpr int kWidth = 1400, kHeight = 900;

  AllLessons() : display_(kWidth, kHeight) {
    display_.use(folder_.path());
    WindowOptions options;
    options.width = 1280;
    options.height = 800;
    options.scale = 1;
    options.tour = false;
    window_ = std::make_unique<Rehearsal>(options, folder_.path());
    state().settings.reduced_motion = true;  // fades would take time
  }

  State& state() { return window_->state(); }
  void press(int key) { window_->perform("key " + std::to_string(key) + " 0"); }

  // Waits until the step shows its own run.
  void wait_for_step(const Lesson& lesson, std::size_t step) {
    const std::string step_name = lesson.id + ", step " + std::to_string(step + 1);
    ASSERT_TRUE(window_->draw_until([&] {
      return state().lesson.lesson != nullptr && state().lesson.lesson->id == lesson.id &&
             state().lesson.step == step && state().run.trace != nullptr && state().is_current();
    })) << step_name
        << " did not appear: " << state().run.error;
    EXPECT_EQ(state().run.error, "") << step_name;
  }

  testing::TemporaryFolder folder_;
  Display display_;
  std::unique_ptr<Rehearsal> window_;
};

// Advances as soon as a step shows its own run. Claims are measured only in the run of their step.
TEST_F(AllLessons, AdvanceThroughAllSteps) {
  for (const Lesson& lesson : bundled_lessons()) {
    start_lesson(state(), lesson);
    for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
      wait_for_step(lesson, step);
      if (HasFatalFailure()) return;
      press(GLFW_KEY_PAGE_DOWN);
    }
  }
}

// On stage, all words of every step are readable, if necessary after further pages.
TEST_F(AllLessons, ShowAllWordsInLargeType) {
  press(GLFW_KEY_F5);
  ASSERT_TRUE(window_->draw_until([&] { return window_->size().y == kHeight; }));
  for (const Lesson& lesson : bundled_lessons()) {
    start_lesson(state(), lesson);
    for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
      wait_for_step(lesson, step);
      if (HasFatalFailure()) return;
      window_->rest(1);
      const std::string step_name = lesson.id + ", step " + std::to_string(step + 1);
      EXPECT_GE(window_->lecture_text_height(), kHeight / 28.0) << step_name;
      for (int pages = 1; state().lesson.scroll.has_more_below; ++pages) {
        ASSERT_LT(pages, 4) << step_name;
        const double top = window_->box("lesson.text").y;
        press(GLFW_KEY_PAGE_DOWN);
        ASSERT_TRUE(window_->draw_until([&] { return window_->box("lesson.text").y < top; }))
            << step_name;
        EXPECT_EQ(state().lesson.step, step);
      }
      press(GLFW_KEY_PAGE_DOWN);
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
