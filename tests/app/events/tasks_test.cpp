// Views of tasks in the window: generated targets, walks and completed images, computed in the
// background and recomputed when their inputs change.
#include "tests/core/experiment/tasks.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/file.h"
#include "core/view/session_file.h"
#include "tests/app/events/desktop.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using Report = Program::Report;

class Tasks : public ::testing::Test {
 protected:
  // Waits until the picture of the view is stable and nothing is pending.
  static Report wait_until_stable(Program& program, const std::string& view) {
    program.wait_for("view " + view, [&](const Report& r) {
      return r["has_trace"].get<bool>() && r["current"].get<bool>() &&
             r["experiment"]["view"]["type"] == view && r.contains("picture");
    });
    program.rest_pointer();
    program.wait_for_still_frames(std::chrono::milliseconds(500));
    return program.wait_for("rest");
  }
  // Arguments that open the window with this session.
  std::vector<std::string> arguments(const Session& session) const {
    const std::string file = (folder_.path() / "session.json").string();
    write_file(file, to_json(session).dump());
    return {"--session", file, "--size", "1280x800"};
  }
  testing::TemporaryFolder folder_;
  Display display_{1280, 800};
};

TEST_F(Tasks, WritesAndPlaysAlignment) {
  Program program(display_, folder_.path(),
                  arguments(testing::alignment_session("rnn_attention-dot")));
  const Report first = wait_until_stable(program, "alignment");
  program.keep_screenshot("task-alignment");
  // The model has no layer of self-attention, hence no variant.
  EXPECT_FALSE(first["widgets"].contains("variant.type"));
  program.click("handle.1");
  program.wait_for("a step", [](const Report& r) {
    return r["experiment"]["view"]["options"]["alignment"]["step"] == 2;
  });
  program.rest_pointer();
  program.wait_for_still_frames(std::chrono::milliseconds(300));
  EXPECT_NE(program.wait_for("rest")["picture"], first["picture"]);
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

TEST_F(Tasks, ClickOnCellStartsWalk) {
  testing::save_walker(folder_.path() / "walker");
  Program program(display_, folder_.path(),
                  arguments(testing::trajectory_session(folder_.path() / "walker")));
  const Report initial = wait_until_stable(program, "trajectory");
  program.keep_screenshot("task-trajectory");
  program.click("handle.3");
  program.wait_for("the walk from cell 3", [](const Report& r) {
    return r["experiment"]["view"]["options"]["trajectory"]["start"] == 3;
  });
  program.rest_pointer();
  program.wait_for_still_frames(std::chrono::milliseconds(300));
  EXPECT_NE(program.wait_for("rest")["picture"], initial["picture"]);
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

// The previous model's results are removed if the selected model cannot read the input.
TEST_F(Tasks, AnotherModelClearsPicturesOfOldTask) {
  testing::save_walker(folder_.path() / "walker");
  const std::pair<std::string, Session> tasks[] = {
      {"trajectory", testing::trajectory_session(folder_.path() / "walker")},
      {"alignment", testing::alignment_session("rnn_attention-dot")}};
  for (const auto& [view, session] : tasks) {
    Program program(display_, folder_.path(), arguments(session));
    wait_until_stable(program, view);
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

// Positions of the tabs.
std::map<std::string, Json> tabs(const Report& report) {
  std::map<std::string, Json> boxes;
  for (const auto& [id, box] : report["widgets"].items()) {
    if (id.starts_with("view.")) boxes[id] = Json(box);
  }
  return boxes;
}

// Selecting a model sets a compatible input; going back restores the text. No tab moves.
TEST_F(Tasks, ModelOpensOnIllustrativeView) {
  Session session;
  session.run.text = "my own words";
  Program program(display_, folder_.path(), arguments(session));
  const std::map<std::string, Json> tabs_of_text = tabs(wait_until_stable(program, "map"));
  EXPECT_EQ(tabs_of_text.size(), 9U);
  program.click("views.more");
  program.wait_for("the other views",
                   [](const Report& r) { return r["widgets"].contains("view.rope"); });
  program.keep_screenshot("opening-more");
  program.click("view.rope");
  EXPECT_EQ(tabs(wait_until_stable(program, "rope")), tabs_of_text);
  program.open_view("map");
  wait_until_stable(program, "map");
  program.click("model");
  program.rest_pointer();
  program.wait_for("the list",
                   [](const Report& r) { return r["widgets"].contains("model.digits"); });
  program.keep_screenshot("opening-models");
  program.click("model.digits");
  const Report digits = wait_until_stable(program, "image");
  EXPECT_EQ(tabs(digits), tabs_of_text);
  EXPECT_EQ(digits["error"], "");
  EXPECT_TRUE(digits["widgets"].contains("opened.undo"));
  program.keep_screenshot("opening-digits");
  program.click("model");
  program.click("model.brackets");
  wait_until_stable(program, "steps");
  program.click("samples");
  program.wait_for("samples", [](const Report& r) { return r["widgets"].contains("sample.flat"); });
  program.keep_screenshot("opening-samples");
  program.click("sample.flat");
  program.wait_for("the sample", [](const Report& r) {
    return r["experiment"]["text"] == "()[]{}<>()[]{}<>()[]{}<>" && r["current"].get<bool>();
  });
  program.click("model");
  program.wait_for("the list",
                   [](const Report& r) { return r["widgets"].contains("list.marked"); });
  program.press("Home");
  program.wait_for("the first model", [](const Report& r) {
    return r["widgets"]["list.marked"] == r["widgets"]["model.default"];
  });
  program.press("Return");
  const Report restored = wait_until_stable(program, "map");
  EXPECT_EQ(restored["experiment"]["text"], "my own words");
  EXPECT_EQ(restored["error"], "");
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

// Options apply to the first run.
TEST_F(Tasks, CommandLineSelectsInputAndView) {
  const std::string digit = (testing::source_folder() / "assets/samples/digit.png").string();
  for (const std::vector<std::string>& start :
       {std::vector<std::string>{"window", digit}, std::vector<std::string>{"--input", digit},
        std::vector<std::string>{"--model", "digits"}}) {
    const testing::TemporaryFolder folder;
    std::vector<std::string> options = start;
    for (const char* option : {"--layer", "2", "--head", "1", "--size", "1280x800", "--no-tour"}) {
      options.emplace_back(option);
    }
    Program program(display_, folder.path(), options);
    const Report report = wait_until_stable(program, "image");
    EXPECT_EQ(report["experiment"]["model"], "digits") << start[0];
    EXPECT_EQ(report["experiment"]["view"]["layer"], 2) << start[0];
    EXPECT_EQ(report["error"], "") << start[0];
    program.press("ctrl+q");
    EXPECT_EQ(program.wait_for_end(), 0);
  }
}

TEST_F(Tasks, CompletesImages) {
  Program program(display_, folder_.path(), arguments(testing::completion_session()));
  wait_until_stable(program, "image");
  program.keep_screenshot("task-image");
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
