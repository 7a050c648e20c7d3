// OpenGL errors in the window: for one frame, and permanently.
#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "app/window/lesson.h"
#include "core/base/error.h"
#include "core/lesson/lesson.h"
#include "core/view/session_file.h"
#include "tests/app/events/desktop.h"
#include "tests/app/monkey/rehearsal.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

class FailingFrame : public ::testing::Test {
 protected:
  FailingFrame() : display_(900, 700), real_get_error_(epoxy_glGetError) {
    display_.use(folder_.path());
    options_.width = 640;
    options_.height = 480;
    options_.tour = false;
    options_.text = "what was typed last";
    // Set before threads start, because all threads query errors.
    epoxy_glGetError = [] {
      if (failures_left_ <= 0) return GLenum{GL_NO_ERROR};
      return --failures_left_ % 2 == 1 ? error_.load() : GLenum{GL_NO_ERROR};
    };
  }
  ~FailingFrame() override { epoxy_glGetError = real_get_error_; }

  // Makes every second error query fail, `times` times.
  void fail_queries(GLenum error, int times) {
    error_ = error;
    failures_left_ = 2 * times;
  }

  static inline std::atomic<GLenum> error_;
  static inline std::atomic<int> failures_left_{0};
  testing::TemporaryFolder folder_;
  Display display_;
  WindowOptions options_;
  decltype(epoxy_glGetError) real_get_error_;
};

TEST_F(FailingFrame, ReportsErrorAndRedraws) {
  Rehearsal window(options_, folder_.path());
  ASSERT_TRUE(window.rest(60));
  fail_queries(GL_OUT_OF_MEMORY, 1);
  window.perform("move 300 200");
  EXPECT_EQ(failures_left_.load(), 0);
  ASSERT_FALSE(window.state().notices.empty());
  EXPECT_NE(window.state().notices.back().text.find("out of memory while drawing"),
            std::string::npos)
      << window.state().notices.back().text;
  ASSERT_TRUE(window.rest(60));
  EXPECT_NO_THROW(window.compare_with_fresh_frame());
}

// The lecture continues without the speaker window.
TEST_F(FailingFrame, SpeakerWindowClosesAlone) {
  Rehearsal window(options_, folder_.path());
  start_lesson(window.state(), bundled_lessons().front());
  window.state().lesson.notes = true;
  window.rest(5);
  ASSERT_TRUE(window.state().lesson.notes);
  // The clock of the speaker window ticks every second, mostly while the main window is idle.
  for (int tick = 0; tick < 5 && window.state().lesson.notes; ++tick) {
    ASSERT_TRUE(window.rest(60));
    fail_queries(GL_OUT_OF_MEMORY, 1);
    window.linger(1.2);
  }
  EXPECT_FALSE(window.state().lesson.notes);
  ASSERT_FALSE(window.state().notices.empty());
  EXPECT_NE(window.state().notices.back().text.find("the speaker's window is closed"),
            std::string::npos)
      << window.state().notices.back().text;
  window.perform("move 300 200");
  window.state().lesson.notes = true;  // the window can be opened again
  window.rest(5);
  EXPECT_TRUE(window.state().lesson.notes);
}

TEST_F(FailingFrame, LostContextKeepsSession) {
  {
    Rehearsal window(options_, folder_.path());
    ASSERT_TRUE(window.rest(60));
    fail_queries(GL_CONTEXT_LOST, 1000);
    std::string message;
    try {
      window.run();
    } catch (const WorkError& e) {
      message = e.what();
    }
    EXPECT_NE(message.find("context lost while drawing"), std::string::npos) << message;
    EXPECT_NE(message.find("The session is saved"), std::string::npos) << message;
    failures_left_ = 0;
  }
  int autosaves = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (!file.path().filename().string().starts_with("autosave-")) continue;
    ++autosaves;
    EXPECT_EQ(load_session(file.path()).run.text, *options_.text);
  }
  EXPECT_EQ(autosaves, 1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
