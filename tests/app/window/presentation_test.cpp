#include "app/window/presentation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "app/window/widgets/fonts.h"
#include "core/figure/render.h"
#include "core/view/parts/no_space.h"
#include "tests/core/view/families.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

// A lesson's text has at least 1/28 of the stage's height, to be readable from the last row.
TEST(Presentation, TextSizeGrowsWithHeight) {
  for (int height = 320; height <= 2880; height += 7) {
    const double pixels = kMinLectureSize * presentation_scale(height);
    EXPECT_GE(std::round(pixels), std::floor(height / 28.0)) << height;
    EXPECT_GE(pixels, height / 28.0 - 1e-9) << height;
    EXPECT_LE(pixels, height / 28.0 + kMinLectureSize / kBodySize) << height;
  }
  EXPECT_GT(presentation_scale(1000, 1.2), presentation_scale(1000));
  EXPECT_GT(presentation_scale(100, 0.1), 0);
}

TEST(Presentation, FillsMonitorWithLargestOverlap) {
  const std::vector<ScreenBox> monitors = {{0, 0, 1920, 1080}, {1920, 0, 1280, 800}};
  EXPECT_EQ(monitor_of({100, 100, 1440, 900}, monitors), 0U);
  EXPECT_EQ(monitor_of({1900, 100, 1000, 600}, monitors), 1U);
  EXPECT_EQ(monitor_of({-900, -900, 10, 10}, monitors), 0U);  // outside all monitors
  EXPECT_FALSE(monitor_of({0, 0, 10, 10}, {}).has_value());
}

TEST(Presentation, LectureLeavesPrimaryMonitorToSpeaker) {
  const std::vector<ScreenBox> monitors = {{0, 0, 1920, 1080}, {1920, 0, 1280, 800}};
  const ScreenBox on_first{10, 10, 800, 600}, on_second{2000, 10, 800, 600};
  EXPECT_EQ(presentation_monitor(on_first, monitors, true), 1U);
  EXPECT_EQ(presentation_monitor(on_second, monitors, true), 1U);
  EXPECT_EQ(presentation_monitor(on_first, monitors, false), 0U);
  EXPECT_EQ(presentation_monitor(on_second, monitors, false), 1U);
  EXPECT_EQ(presentation_monitor(on_first, {monitors[0]}, true), 0U);
  EXPECT_FALSE(presentation_monitor(on_first, {}, true).has_value());
}

TEST(Presentation, SpeakerWindowUsesOtherMonitor) {
  const ScreenBox wall{0, 0, 1920, 1080}, desk{1920, 0, 1280, 800};
  EXPECT_EQ(speaker_place(wall, {wall, desk}).box, desk);
  EXPECT_EQ(speaker_place(desk, {wall, desk}).box, wall);
  EXPECT_TRUE(speaker_place(wall, {wall, desk}).has_own_monitor);
  const SpeakerPlace place = speaker_place(wall, {wall});
  EXPECT_FALSE(place.has_own_monitor);
  EXPECT_GE(place.box.x, 0);
  EXPECT_EQ(place.box.x + place.box.width, 1920);
  EXPECT_EQ(place.box.y + place.box.height, 1080);
  EXPECT_GT(speaker_place(wall, {}).box.width, 0);
}

// Lays out a view whose plot size depends on the font size only.
class PresentationLayoutTest : public ::testing::Test {
 protected:
  // Selected font size. `sides`: plot size for each font size; 0: no space.
  double selected_font_size(const std::map<double, double>& sides) {
    View view;
    view.lay_out = [&](const ViewInput& input) {
      ViewLayout layout;
      const double side = sides.at(input.canvas.font_size);
      layout.plot = {0, 0, side, side};
      layout.row = input.canvas.font_size;  // identifies the layout
      if (side == 0) layout.refusal = kNoSpace;
      return layout;
    };
    const Trace trace;
    const Session session;
    return lay_out_for_presentation(view, {.trace = trace,
                                           .session = session,
                                           .canvas = {.width = 900,
                                                      .height = 400,
                                                      .theme = Theme::light(),
                                                      .measure = file_text_measure()}})
        .row;
  }
};

TEST_F(PresentationLayoutTest, TextLeavesHalfOfSpaceToCells) {
  EXPECT_EQ(selected_font_size({{12.1, 300}, {10.5, 320}, {9, 340}, {7.5, 360}}), 12.1);
  EXPECT_EQ(selected_font_size({{12.1, 150}, {10.5, 210}, {9, 230}, {7.5, 250}}), 10.5);
}

TEST_F(PresentationLayoutTest, RejectsSmallerTextWithLittleGain) {
  EXPECT_EQ(selected_font_size({{12.1, 150}, {10.5, 155}, {9, 200}, {7.5, 300}}), 12.1);
  EXPECT_EQ(selected_font_size({{12.1, 150}, {10.5, 180}, {9, 200}, {7.5, 300}}), 10.5);
}

TEST_F(PresentationLayoutTest, UsesSmallerTextIfOnlyItFits) {
  EXPECT_EQ(selected_font_size({{12.1, 0}, {10.5, 100}, {9, 105}, {7.5, 110}}), 10.5);
  EXPECT_EQ(selected_font_size({{12.1, 0}, {10.5, 0}, {9, 50}, {7.5, 110}}), 9);
  EXPECT_EQ(selected_font_size({{12.1, 0}, {10.5, 0}, {9, 0}, {7.5, 110}}), 7.5);
}

// Lays out views on a full screen of 1920 x 1080 pixels, alone and next to a lesson's text.
class PresentationViewsTest : public ::testing::Test {
 protected:
  using FindingsOf = std::function<Findings(const Session&)>;

  // Expects labels of at least 22 pixels in each view with content for this run.
  void expect_legible(const Trace& trace, Session session, const std::string& name,
                      const FindingsOf& findings_of) {
    for (const View& v : views()) {
      if (!v.objection(trace).empty()) continue;
      // Two stacks with steps and halting are taller than a slide: their diagram is smaller.
      if (v.id == "architecture" && name.starts_with("universal_encoder_decoder")) continue;
      session.view.id = v.id;
      const Findings findings = findings_of(session);
      for (const double width : {820.0, 428.0}) {  // units
        for (const bool has_marks : {false, true}) {
          Session marked = session;
          if (has_marks) marked.view.pinned_query = marked.view.pinned_key = 1;
          ViewInput input{.trace = trace,
                          .session = marked,
                          .findings = findings,
                          .canvas = {.width = width,
                                     .height = 442,
                                     .theme = Theme::light(),
                                     .measure = file_text_measure(),
                                     .scale = presentation_scale(1080)},
                          .figure = {.framed = width > 500}};
          if (has_marks) input.interaction.pointer = Point{width / 2, 221};
          expect_legible(v, input, v.id + " of " + name + ", " + std::to_string(width));
        }
      }
    }
  }

  void expect_legible(const View& v, const ViewInput& input, const std::string& context) {
    constexpr double kMinPixels = 22;
    const ViewLayout layout = lay_out_for_presentation(v, input);
    if (layout.refusal.empty()) drawn_.insert(v.id);
    EXPECT_FALSE(lacks_space(layout.refusal)) << context;
    EXPECT_EQ(testing::layout_error(layout.list), "") << context;
    for (const Text& text : testing::texts(layout.list)) {
      EXPECT_GE(text.size * presentation_scale(1080), kMinPixels - 1e-6)
          << context << ": " << text.text;
    }
  }

  std::set<std::string> drawn_;
};

TEST_F(PresentationViewsTest, LabelsAreLegibleInTheLastRow) {
  for (const auto& [length, layers] : {std::pair<Index, Index>{6, 2}, {16, 30}, {200, 2}}) {
    const Trace trace = testing::run_model(
        {.length = length, .layers = layers, .heads = layers > 2 ? 9 : 4, .kv_heads = 1});
    Session session;
    session.b = RunView();
    expect_legible(trace, session, std::to_string(length) + " tokens",
                   [&](const Session&) { return testing::findings_of(trace, &trace); });
  }
  for (const testing::Family& family : testing::families()) {
    testing::ViewRun run(testing::family_session(family));
    expect_legible(run.trace(), run.session(), family.model,
                   [&](const Session& session) { return run.findings(session); });
  }
  const testing::TemporaryFolder folder;
  testing::save_walker(folder.path());
  testing::ViewRun walk(testing::trajectory_session(folder.path()));
  expect_legible(walk.trace(), walk.session(), "walk",
                 [&](const Session& session) { return walk.findings(session); });
  Session trained_session;
  trained_session.run.model = "induction-letters";
  trained_session.run.text = "kqbkqb";
  testing::ViewRun trained(trained_session);
  expect_legible(trained.trace(), trained.session(), "trained",
                 [&](const Session& session) { return trained.findings(session); });
  for (const View& v : views()) {
    EXPECT_TRUE(drawn_.contains(v.id)) << v.id;
  }
}

// Cells of letters are narrower than the smallest "w".
TEST_F(PresentationViewsTest, NarrowTargetShowsEveryLetter) {
  const std::string target = "viertausenddreihunderteinundzwanzig";
  Session session;
  session.run.model = "numbers-additive";
  session.run.text = "4321";
  session.view.id = "alignment";
  testing::ViewRun run(session);
  const Findings findings = run.findings(session);
  const ViewLayout layout =
      lay_out_for_presentation(view("alignment"), {.trace = run.trace(),
                                                   .session = session,
                                                   .findings = findings,
                                                   .canvas = {.width = 428,
                                                              .height = 442,
                                                              .theme = Theme::light(),
                                                              .measure = file_text_measure()},
                                                   .figure = {.framed = false}});
  std::string drawn;
  for (const Text& text : testing::texts(layout.list)) {
    if (text.text.size() == 1) drawn += text.text;
  }
  for (const char letter : target) {
    EXPECT_GE(std::ranges::count(drawn, letter), std::ranges::count(target, letter)) << letter;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
