// Scripted tour of every view under real X events: opened, changed, exported, restored from its
// session, and checked in common window sizes and scales. Nothing may be outside the window or
// overlap. Saves screenshots in the build folder.
#include <gtest/gtest.h>

#include <ranges>

#include "core/base/file.h"
#include "core/view/view.h"
#include "tests/app/events/desktop.h"
#include "tests/app/events/small_model.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using Report = Program::Report;

constexpr const char* kText = "the cat sat on the mat and the dog sat on the log";

struct Size {
  const char* name;
  int width, height;
  const char* scale;
};
void PrintTo(const Size& size, std::ostream* out) {
  *out << size.name;
}
constexpr Size kSizes[] = {
    {"1280x800", 1280, 800, "1"}, {"1920x1080", 1920, 1080, "1"}, {"scale-2", 2560, 1600, "2"}};

struct Box {
  explicit Box(const Report& box)
      : left(box[0].get<double>()),
        top(box[1].get<double>()),
        right(left + box[2].get<double>()),
        bottom(top + box[3].get<double>()) {}
  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  double left, top, right, bottom;
};

bool shows_view(const Report& r, const std::string& view) {
  return r["has_trace"].get<bool>() && r["current"].get<bool>() &&
         r["experiment"]["view"]["type"] == view && r.contains("picture");
}

// Opens a view and returns its report once idle.
Report open_view(Program& program, const std::string& view) {
  program.open_view(view);
  if (view == "compare") program.press("b");
  program.rest_pointer();
  program.wait_for_still_frames(std::chrono::milliseconds(300));
  return program.wait_for("view " + view, [&](const Report& r) {
    return shows_view(r, view) && (view != "compare" || r["experiment"].contains("compare"));
  });
}

// Checks that tabs and picture are inside the window and do not overlap.
void expect_layout(const Report& report, const Size& size, const std::string& view) {
  const Report& widgets = report["widgets"];
  ASSERT_TRUE(widgets.contains("picture")) << view;
  const Box picture(widgets["picture"]);
  EXPECT_GT(picture.right - picture.left, 0.3 * size.width) << view;
  EXPECT_GT(picture.bottom - picture.top, 0.4 * size.height) << view;
  std::vector<Box> tabs;
  for (const auto& [id, place] : widgets.items()) {
    const Box box(place);
    EXPECT_GE(box.left, 0) << id << " in " << view;
    EXPECT_LE(box.right, size.width) << id << " in " << view;
    if (!id.starts_with("view.") && id != "views.more" && id != "text") continue;
    EXPECT_TRUE(box.top >= 0 && box.bottom <= size.height) << id << " in " << view;
    EXPECT_FALSE(box.overlaps(picture)) << id << " in " << view;
    for (const Box& other : tabs) EXPECT_FALSE(box.overlaps(other)) << id << " in " << view;
    tabs.push_back(box);
  }
  EXPECT_EQ(tabs.size(), 11U) << view;  // nine tabs, the list of the other views, and the text
}

class Views : public ::testing::TestWithParam<Size> {
 protected:
  Views() : display_(GetParam().width, GetParam().height) { save_small_model(model()); }
  std::filesystem::path model() const { return folder_.path() / "model"; }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  std::vector<std::string> arguments(const std::vector<std::string>& extra) const {
    const Size& size = GetParam();
    std::vector<std::string> options = {
        "--model", model().string(),
        "--size",  std::to_string(size.width) + "x" + std::to_string(size.height),
        "--scale", size.scale};
    options.insert(options.end(), extra.begin(), extra.end());
    return options;
  }

  testing::TemporaryFolder folder_;
  Display display_;
};

TEST_P(Views, TabsAndPictureFitWindow) {
  Program program(display_, folder_.path(), arguments({"--text", kText}));
  std::map<std::string, Report> tabs;
  for (const View& view : views()) {
    const Report report = open_view(program, view.id);
    for (std::size_t n = 0; n < 9; ++n) {  // no tab ever moves
      const std::string tab = "view." + views()[n].id;
      const Report& box = report["widgets"][tab];
      EXPECT_EQ(tabs.try_emplace(tab, box).first->second, box) << tab << " in " << view.id;
    }
    program.keep_screenshot(std::string("fit-") + GetParam().name + "-" + view.id);
    expect_layout(report, GetParam(), view.id);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Views, ::testing::ValuesIn(kSizes), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Changes the view's first parameter that has a control, with the mouse. If no parameter has a
// control, shows the next head.
void change_view(Program& program, const View& view) {
  const Report report = program.wait_for("rest");
  if (view.id == "intervene") {
    program.click("handle.0");
    program.wait_for("an intervention",
                     [](const Report& r) { return r["experiment"].contains("interventions"); });
    return;
  }
  if (view.id == "compare") {
    program.click("position.type");
    program.click("position.type.none");
    program.wait_for("another encoding",
                     [](const Report& r) { return r["experiment"].contains("position"); });
    return;
  }
  if (view.id == "mechanism") {  // the view is equal for all heads: pins a pair instead
    const Box picture(report["widgets"]["picture"]);
    program.point_at((picture.left + picture.right) / 2, 0.3 * picture.top + 0.7 * picture.bottom);
    program.xdotool("click 3");
    program.wait_for("a pinned pair", [](const Report& r) {
      return r["experiment"]["view"].contains("pinned_query");
    });
    return;
  }
  if (view.id == "image") {  // a text has no image
    program.click("picture_sample");
    program.wait_for("a picture", [](const Report& r) {
      return r["experiment"].contains("tensors") && r["experiment"]["tensors"].contains("width");
    });
    return;
  }
  for (const Parameter& p : view.options.parameters) {
    const std::string id = view.id + "." + p.key;
    if (p.optional || !report["widgets"].contains(id)) continue;
    const Values values = default_values(view.options.parameters);
    if (p.kind == Parameter::Kind::Choice) {
      const std::string& other_choice =
          p.choices.front().id == values.choice(p.key) ? p.choices.back().id : p.choices.front().id;
      program.click(id);
      program.click(id + "." + other_choice);
    } else if (p.kind == Parameter::Kind::Flag) {
      program.click(id);
    } else {
      program.drag(id, 0.5, 0.9);
    }
    program.wait_for("another " + id, [&](const Report& r) {
      const Report& settings = r["experiment"]["view"];
      return settings.contains("options") && settings["options"].contains(view.id) &&
             settings["options"][view.id].contains(p.key);
    });
    return;
  }
  const Report head = report["experiment"]["view"]["head"];
  program.press("period");
  program.wait_for("the next head",
                   [&](const Report& r) { return r["experiment"]["view"]["head"] != head; });
}

// Views of special kinds of runs have tests of their own.
bool needs_no_special_run(const View& view) {
  return !view.content.objection;
}

class Tour : public Views {
 protected:
  void save_as(Program& program, const std::string& shortcut, const std::string& field,
               const std::string& accept, const std::string& path) {
    program.press(shortcut);
    program.wait_for(field, [&](const Report& r) { return r["widgets"].contains(field); });
    program.type(path);  // replaces the selected text
    program.click(accept);
    program.wait_for("file " + path, [&](const Report& r) {
      return std::filesystem::exists(path) && !r["widgets"].contains(field);
    });
  }
};

// The changed view is exported, saved, and reproduced by a window and by the command line.
TEST_P(Tour, ReproducesEveryChangedView) {
  std::map<std::string, Report> pictures;
  {
    Program program(display_, folder_.path(), arguments({"--text", kText}));
    for (const View& view : views() | std::views::filter(needs_no_special_run)) {
      program.wait_for_still_frames(std::chrono::milliseconds(300));
      const Report initial = open_view(program, view.id);
      change_view(program, view);
      const Report changed = open_view(program, view.id);
      EXPECT_NE(changed["picture"], initial["picture"]) << view.id;
      program.keep_screenshot("tour-of-" + view.id);
      save_as(program, "ctrl+e", "export.path", "export.accept", file(view.id + ".png"));
      save_as(program, "ctrl+shift+s", "browser.name", "browser.accept", file(view.id + ".json"));
      pictures[view.id] = changed["picture"];
      if (view.id != "image") continue;  // back to the text
      program.click("tensors.close");
      program.wait_for("the text", [](const Report& r) {
        return r["current"].get<bool>() && !r["experiment"].contains("tensors");
      });
    }
    program.press("ctrl+q");
    EXPECT_EQ(program.wait_for_end(), 0);
  }
  for (const View& view : views() | std::views::filter(needs_no_special_run)) {
    const std::string rendered = file(view.id + "-rendered.png");
    const std::string command = testing::program_path() + " render --session " +
                                file(view.id + ".json") + " -o " + rendered;
    ASSERT_EQ(std::system(command.c_str()), 0) << view.id;
    if (view.id == "compare") continue;  // Compare shows times, which differ
    EXPECT_TRUE(read_file(rendered) == read_file(file(view.id + ".png"))) << view.id;
  }
  for (const View& view : views() | std::views::filter(needs_no_special_run)) {
    Program program(display_, folder_.path(), arguments({"--session", file(view.id + ".json")}));
    program.wait_for("view " + view.id, [&](const Report& r) { return shows_view(r, view.id); });
    program.rest_pointer();
    program.wait_for(view.id + " as before", [&](const Report& r) {
      // Compare shows the times of both runs, which differ.
      const bool is_same = r["picture"] == pictures[view.id] || view.id == "compare";
      return shows_view(r, view.id) && is_same;
    });
    program.press("ctrl+q");
    EXPECT_EQ(program.wait_for_end(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Tour, ::testing::Values(kSizes[0]),
                         [](const auto& info) { return info.param.name; });

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
