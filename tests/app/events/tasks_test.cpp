// The views of tasks in the window: a target that is written, ways that are walked, an image that
// is completed, in the background and redone when what they hang on changes.
#include "tests/core/experiment/tasks.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/view/session.h"
#include "tests/app/events/desktop.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace {

using Report = Program::Report;

class Tasks : public ::testing::Test {
 protected:
  // Until the picture stands still and nothing is on its way.
  static Report at_rest(Program& program, const std::string& view) {
    program.wait_for("view " + view, [&](const Report& r) {
      return r["has_trace"].get<bool>() && r["current"].get<bool>() &&
             r["experiment"]["view"]["type"] == view && r.contains("picture");
    });
    program.rest_pointer();
    program.wait_for_still_frames(std::chrono::milliseconds(500));
    return program.wait_for("rest");
  }
  // The window with this experiment.
  std::vector<std::string> arguments(const Experiment& e) const {
    const std::string session = (folder_.path() / "session.json").string();
    write_file(session, to_json(e).dump());
    return {"--session", session, "--size", "1280x800"};
  }
  testing::TemporaryFolder folder_;
  Display display_{1280, 800};
};

TEST_F(Tasks, AlignmentIsWrittenAndPlayed) {
  Program program(display_, folder_.path(), arguments(testing::writing("rnn_attention-dot")));
  const Report all = at_rest(program, "alignment");
  program.keep_screenshot("task-alignment");
  program.click("handle.1");
  program.wait_for("a step", [](const Report& r) {
    return r["experiment"]["view"]["options"]["alignment"]["step"] == 2;
  });
  program.rest_pointer();
  program.wait_for_still_frames(std::chrono::milliseconds(300));
  EXPECT_NE(program.wait_for("rest")["picture"], all["picture"]);
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

TEST_F(Tasks, WaysAreWalkedFromTheCellThatIsClicked) {
  testing::save_walker(folder_.path() / "walker");
  Program program(display_, folder_.path(), arguments(testing::walking(folder_.path() / "walker")));
  const Report before = at_rest(program, "trajectory");
  program.keep_screenshot("task-trajectory");
  program.click("handle.3");
  program.wait_for("a start", [](const Report& r) {
    return r["experiment"]["view"]["options"]["trajectory"]["start"] == 3;
  });
  program.rest_pointer();
  program.wait_for_still_frames(std::chrono::milliseconds(300));
  EXPECT_NE(program.wait_for("rest")["picture"], before["picture"]);
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

// What the shown run's model did is no more, and the chosen one can do nothing with its input.
TEST_F(Tasks, AnotherModelLeavesNoPictureOfWhatItHasNot) {
  testing::save_walker(folder_.path() / "walker");
  const std::pair<std::string, Experiment> tasks[] = {
      {"trajectory", testing::walking(folder_.path() / "walker")},
      {"alignment", testing::writing("rnn_attention-dot")}};
  for (const auto& [view, experiment] : tasks) {
    Program program(display_, folder_.path(), arguments(experiment));
    at_rest(program, view);
    program.click("model");
    program.click("model.brackets");
    program.wait_for("the other model",
                     [](const Report& r) { return r["experiment"]["model"] == "brackets"; });
    program.rest_pointer();
    program.wait_for_still_frames(std::chrono::milliseconds(500));
    program.press("ctrl+q");
    EXPECT_EQ(program.wait_for_end(), 0) << view;
  }
}

TEST_F(Tasks, ImagesAreCompleted) {
  Program program(display_, folder_.path(), arguments(testing::completing()));
  at_rest(program, "image");
  program.keep_screenshot("task-image");
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

}  // namespace
}  // namespace attnscope::window
