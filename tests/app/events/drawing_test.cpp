// Masks and graphs drawn with the mouse.
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/view/session.h"
#include "tests/app/events/desktop.h"
#include "tests/app/events/small_model.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace {

using Report = Program::Report;

class Drawing : public ::testing::Test {
 protected:
  Drawing() : display_(1280, 800) { save_small_model(folder_.path() / "model"); }
  std::vector<std::string> arguments() const {
    return {"--model", (folder_.path() / "model").string(),
            "--text",  "the cat sat on the mat",
            "--size",  "1280x800",
            "--scale", "1"};
  }
  static bool is_current(const Report& r) {
    return r["has_trace"].get<bool>() && r["current"].get<bool>();
  }
  static Json variant(const Report& r) {
    return r["experiment"].contains("variant") ? Json(r["experiment"]["variant"]) : Json::object();
  }
  // From one share of a widget's box to another, with the button held.
  static void drag(Program& program, const std::string& widget, double x0, double y0, double x1,
                   double y1) {
    const Report box = program.wait_for(widget, [&](const Report& r) {
      return is_current(r) && r["widgets"].contains(widget);
    })["widgets"][widget];
    const auto point = [&](double x, double y) {
      program.point_at(box[0].get<double>() + x * box[2].get<double>(),
                       box[1].get<double>() + y * box[3].get<double>());
    };
    point(x0, y0);
    program.xdotool("mousedown 1");
    point((x0 + x1) / 2, (y0 + y1) / 2);
    program.wait_for("half of it");
    point(x1, y1);
    program.wait_for("all of it");
    program.xdotool("mouseup 1");
    program.rest_pointer();
  }

  testing::TemporaryFolder folder_;
  Display display_;
};

TEST_F(Drawing, PaintsAMaskInOneStep) {
  Program program(display_, folder_.path(), arguments());
  program.wait_for("a first picture", is_current);
  program.press("3");
  program.press("m");
  const Report begun = program.wait_for("a mask of the pattern", [](const Report& r) {
    return is_current(r) && variant(r)["type"] == "custom" && variant(r).contains("rows");
  });
  program.keep_screenshot("mask-begun");
  program.click("pattern.paint");
  program.click("pattern.paint.forbid");
  drag(program, "handle.0", 0.05, 0.95, 0.45, 0.95);  // keys of the last query
  const Report painted = program.wait_for("forbidden keys", [&](const Report& r) {
    return is_current(r) && variant(r)["rows"] != variant(begun)["rows"];
  });
  const Json last = variant(painted)["rows"][variant(painted)["rows"].size() - 1];
  EXPECT_GT(last[0].get<Index>(), 0) << last.dump();
  program.keep_screenshot("mask-painted");
  program.press("ctrl+z");
  program.wait_for("the mask before the stroke", [&](const Report& r) {
    return is_current(r) && variant(r)["rows"] == variant(begun)["rows"];
  });
  program.press("ctrl+shift+z");
  program.wait_for("the stroke again", [&](const Report& r) {
    return is_current(r) && variant(r)["rows"] == variant(painted)["rows"];
  });
  program.click("mask_invert");
  program.wait_for("the inverted mask", [&](const Report& r) {
    return is_current(r) && variant(r)["rows"] != variant(painted)["rows"];
  });
}

}  // namespace
}  // namespace attnscope::window
