// Masks and graphs drawn with the mouse.
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/view/session_file.h"
#include "tests/app/events/desktop.h"
#include "tests/app/events/small_model.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

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
  // Drags between two points of a widget, in fractions of the widget's width and height.
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
    program.wait_for("the first half of the drag");
    point(x1, y1);
    program.wait_for("the whole drag");
    program.xdotool("mouseup 1");
    program.rest_pointer();
  }

  testing::TemporaryFolder folder_;
  Display display_;
};

TEST_F(Drawing, PaintsMaskInOneStep) {
  Program program(display_, folder_.path(), arguments());
  program.wait_for("a first picture", is_current);
  program.press("3");
  program.press("m");
  const Report initial = program.wait_for("a mask of the pattern", [](const Report& r) {
    return is_current(r) && variant(r)["type"] == "custom" && variant(r).contains("rows");
  });
  program.keep_screenshot("mask-begun");
  program.click("pattern.paint");
  program.click("pattern.paint.forbid");
  drag(program, "handle.0", 0.05, 0.95, 0.45, 0.95);  // keys of the last query
  const Report after_paint = program.wait_for("forbidden keys", [&](const Report& r) {
    return is_current(r) && variant(r)["rows"] != variant(initial)["rows"];
  });
  const Json last_row = variant(after_paint)["rows"][variant(after_paint)["rows"].size() - 1];
  EXPECT_GT(last_row[0].get<Index>(), 0) << last_row.dump();
  program.keep_screenshot("mask-painted");
  program.press("ctrl+z");
  program.wait_for("the mask before the stroke", [&](const Report& r) {
    return is_current(r) && variant(r)["rows"] == variant(initial)["rows"];
  });
  program.press("ctrl+shift+z");
  program.wait_for("the stroke again", [&](const Report& r) {
    return is_current(r) && variant(r)["rows"] == variant(after_paint)["rows"];
  });
  program.command("mask_invert");
  program.wait_for("the inverted mask", [&](const Report& r) {
    return is_current(r) && variant(r)["rows"] != variant(after_paint)["rows"];
  });
}

TEST_F(Drawing, DrawsEdgesAndMovesTokens) {
  Program program(display_, folder_.path(), arguments());
  program.wait_for("a first picture", is_current);
  program.open_view("graph");
  program.command("graph_chain");
  program.wait_for("a chain", [](const Report& r) {
    return is_current(r) && variant(r)["type"] == "graph" && variant(r)["from"] == "chain";
  });
  drag(program, "handle.0", 0.5, 0.08, 0.5, 0.5);  // first token, at the top of the circle
  const Report after_move = program.wait_for("a moved token", [](const Report& r) {
    const Report& view = r["experiment"]["view"];
    return is_current(r) && view.contains("options") && view["options"].contains("graph") &&
           view["options"]["graph"].contains("moved");
  });
  EXPECT_EQ(after_move["experiment"]["view"]["options"]["graph"]["moved"].size(), 1U);
  program.keep_screenshot("graph-moved");
  program.press("ctrl+z");
  program.click("graph.tool");
  program.click("graph.tool.edges");
  drag(program, "handle.0", 0.5, 0.08, 0.5, 0.92);  // adds an edge to the token at the bottom
  const Report after_draw = program.wait_for("a drawn edge", [](const Report& r) {
    return is_current(r) && variant(r)["from"] == "edges" && variant(r)["edges"].size() == 6;
  });
  program.keep_screenshot("graph-drawn");
  drag(program, "handle.0", 0.5, 0.08, 0.5, 0.92);  // removes the edge
  program.wait_for("the removed edge", [](const Report& r) {
    return is_current(r) && variant(r)["edges"].size() == 5;
  });
  program.press("ctrl+z");
  program.wait_for("the edge again", [&](const Report& r) {
    return is_current(r) && variant(r)["edges"] == variant(after_draw)["edges"];
  });
}

TEST_F(Drawing, ShowsPixelsOfImage) {
  Program program(display_, folder_.path(), arguments());
  program.wait_for("a first picture", is_current);
  program.open_view("image");
  program.click("picture_sample");
  program.wait_for("a picture", [](const Report& r) {
    return is_current(r) && r["experiment"]["tensors"]["width"] == 32;
  });
  const Report box = program.wait_for("rest")["widgets"]["picture"];
  program.point_at(box[0].get<double>() + 0.15 * box[2].get<double>(),
                   box[1].get<double>() + 0.5 * box[3].get<double>());
  program.wait_for_still_frames(std::chrono::milliseconds(300));
  program.keep_screenshot("image-pointed");
  program.xdotool("click 3");
  program.wait_for("a pinned pixel", [](const Report& r) {
    return r["experiment"]["view"].contains("pinned_query");
  });
  program.command("grid_coarser");
  program.wait_for("a coarser grid", [](const Report& r) {
    return is_current(r) && r["experiment"]["tensors"]["width"] == 24 && variant(r)["stride"] == 24;
  });
  program.press("ctrl+z");
  program.wait_for("the previous grid", [](const Report& r) {
    return is_current(r) && r["experiment"]["tensors"]["width"] == 32;
  });
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
