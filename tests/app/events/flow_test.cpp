// Flow view under real X events: steps, playback, and opening a panel by a click.
#include <gtest/gtest.h>

#include "tests/app/events/desktop.h"
#include "tests/app/events/small_model.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using Report = Program::Report;

bool shows_view(const Report& r, const std::string& view) {
  return r["has_trace"].get<bool>() && r["current"].get<bool>() &&
         r["experiment"]["view"]["type"] == view;
}

// Current step. The last step, 12, shows the whole figure without an explanation.
int step_of(const Report& r) {
  const Report& view = r["experiment"]["view"];
  if (!view.contains("options") || !view["options"].contains("flow")) return 12;
  const Report& flow = view["options"]["flow"];
  return flow.contains("step") ? flow["step"].get<int>() : 12;
}

TEST(FlowWindow, StepsPlaysAndOpensOtherView) {
  const Display display(1280, 800);
  const testing::TemporaryFolder folder;
  save_small_model(folder.path() / "model");
  Program program(display, folder.path(),
                  {"--model", (folder.path() / "model").string(), "--size", "1280x800", "--scale",
                   "1", "--text", "the cat sat on the mat", "--view", "flow"});
  const Report whole_figure =
      program.wait_for("the whole figure", [](const Report& r) { return shows_view(r, "flow"); });
  EXPECT_EQ(step_of(whole_figure), 12);
  program.rest_pointer();
  program.wait_for("a pointer at rest");
  program.keep_screenshot("flow");
  program.press("Left");
  program.wait_for("the previous step", [](const Report& r) { return step_of(r) == 11; });
  program.press("Right");
  program.wait_for("the whole figure again", [](const Report& r) { return step_of(r) == 12; });
  // Playback from the whole figure starts at the first step.
  program.press("space");
  program.wait_for("the first steps", [](const Report& r) { return step_of(r) <= 2; });
  program.press("space");
  program.wait_for_still_frames(std::chrono::milliseconds(300));
  program.press("ctrl+z");
  program.wait_for("the undone playback", [](const Report& r) { return step_of(r) == 12; });
  // The fourth handle is the panel of the scores.
  program.click("handle.3");
  const Report scores =
      program.wait_for("the view Scores", [](const Report& r) { return shows_view(r, "scores"); });
  EXPECT_TRUE(scores["experiment"]["view"].contains("pinned_query"));
  program.press("ctrl+z");
  program.wait_for("the view Flow again", [](const Report& r) { return shows_view(r, "flow"); });
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
