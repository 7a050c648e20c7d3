// Memory, Steps and Gates views under real X events, on runs with segments, steps and gates.
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "tests/app/events/desktop.h"
#include "tests/app/events/small_model.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using Report = Program::Report;

class MemoryViews : public ::testing::Test {
 protected:
  MemoryViews() : display_(1280, 800) { save_small_model(folder_.path() / "model"); }
  // Arguments that open this session with a small model and a text.
  std::vector<std::string> arguments(Json session) const {
    session["attnscope"] = 1;
    session["model"] = (folder_.path() / "model").string();
    session["text"] = "the cat sat on the mat and the dog sat on the log";
    const std::string file = (folder_.path() / "session.json").string();
    write_file(file, session.dump());
    return {"--session", file, "--size", "1280x800", "--scale", "1"};
  }
  static bool is_current(const Report& r) {
    return r["has_trace"].get<bool>() && r["current"].get<bool>() && r.contains("picture");
  }

  testing::TemporaryFolder folder_;
  Display display_;
};

TEST_F(MemoryViews, ClickOnTimelineShowsSegment) {
  Program program(display_, folder_.path(),
                  arguments({{"segment", 4},
                             {"variant", {{"type", "compressive"}, {"rate", 2}}},
                             {"view", {{"type", "memory"}, {"segment", 3}}}}));
  program.wait_for("a picture", is_current);
  program.keep_screenshot("memory");
  program.click("handle.1");
  program.wait_for("segment 1", [](const Report& r) {
    return is_current(r) && r["experiment"]["view"]["segment"] == 1;
  });
  // Map shows the same segment.
  program.open_view("map");
  program.wait_for("the map of segment 1", [](const Report& r) {
    return is_current(r) && r["experiment"]["view"]["type"] == "map" &&
           r["experiment"]["view"]["segment"] == 1;
  });
}

TEST_F(MemoryViews, ShowsStepsOfUniversalTransformer) {
  const Json architecture = {{"type", "universal"}, {"steps", 4}, {"halting", "act"}};
  Program program(display_, folder_.path(),
                  arguments({{"architecture", architecture}, {"view", {{"type", "steps"}}}}));
  program.wait_for("a picture", is_current);
  program.keep_screenshot("steps");
}

TEST_F(MemoryViews, ClickOnGateSelectsLayer) {
  Program program(display_, folder_.path(),
                  arguments({{"join", {{"type", "gru"}}}, {"view", {{"type", "gates"}}}}));
  program.wait_for("a picture", is_current);
  program.keep_screenshot("gates");
  program.click("handle.1");
  program.wait_for("layer 1", [](const Report& r) {
    return is_current(r) && r["experiment"]["view"]["layer"] == 1;
  });
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
