#include "core/view/parts/token_axis.h"

#include <gtest/gtest.h>

#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(TokenAxis, LabelStepsAreRound) {
  EXPECT_EQ(label_step(20, 15), 1);
  EXPECT_EQ(label_step(15, 15), 1);
  EXPECT_EQ(label_step(10, 15), 2);
  EXPECT_EQ(label_step(4, 15), 5);
  EXPECT_EQ(label_step(0.3, 15), 50);
  EXPECT_GT(label_step(0, 15), 1000000);  // terminates
}

TEST(TokenAxis, LabelsAreTokens) {
  const Trace trace = testing::synthetic_trace(1, 1, 5);
  const TokenAxis axis = key_axis(trace, trace.attention[0]);
  ASSERT_EQ(axis.count(), 5);
  EXPECT_EQ(axis.labels[1], "␣lighthouse");
  EXPECT_TRUE(axis.bands.empty());
}

TEST(TokenAxis, MemoryColumnsAreMarked) {
  Trace trace = testing::synthetic_trace(Pattern::all(4, 10));
  trace.attention[0].result.columns = {
      {KeyKind::Compressed, 2}, {KeyKind::Memory, 4}, {KeyKind::Token, 4}};
  const TokenAxis axis = key_axis(trace, trace.attention[0]);
  ASSERT_EQ(axis.count(), 10);
  EXPECT_EQ(axis.labels[0], "c0");
  EXPECT_EQ(axis.labels[2], "−4");  // position before the first token
  EXPECT_EQ(axis.labels[5], "−1");
  EXPECT_EQ(axis.labels[6], "The");
  ASSERT_EQ(axis.bands.size(), 2u);
  EXPECT_EQ(axis.bands[1].first, 2);
  EXPECT_EQ(axis.bands[1].count, 4);
  EXPECT_EQ(axis.bands[1].name, "memory");
}

TEST(TokenAxis, FewerQueriesThanTokensShowLastTokens) {
  Trace trace = testing::synthetic_trace(1, 1, 6);
  trace.attention[0] = testing::synthetic_tap(0, 1, Pattern::all(2, 6));
  const TokenAxis axis = query_axis(trace, trace.attention[0]);
  EXPECT_EQ(axis.labels, (std::vector<std::string>{"␣the", "␣lamp"}));
}

TEST(TokenAxis, MoreKeysThanTokensAreNumbered) {
  Trace trace = testing::synthetic_trace(1, 1, 2);
  trace.attention[0] = testing::synthetic_tap(0, 1, Pattern::all(2, 3));
  EXPECT_EQ(key_axis(trace, trace.attention[0]).labels, (std::vector<std::string>{"0", "1", "2"}));
}

// A font in which "2" is twice as wide as other characters.
class WideTwoMeasure : public TextMeasure {
 public:
  double width(const std::string& text, double size, bool) const override {
    return size / 2 * static_cast<double>(text.size() + std::ranges::count(text, '2'));
  }
};

TEST(TokenAxis, LabelsWithWideIndicesAreWhole) {
  Trace trace = testing::synthetic_trace(1, 1, 24);
  for (TraceToken& token : trace.tokens) token.label = "home";
  Session session;
  session.view.id = "map";
  const WideTwoMeasure measure;
  int whole = 0;
  for (const double height : {300.0, 360.0, 420.0}) {
    const ViewLayout layout = view("map").lay_out({.trace = trace,
                                                   .session = session,
                                                   .canvas = {.width = 700,
                                                              .height = height,
                                                              .font_size = 13,
                                                              .theme = Theme::light(),
                                                              .measure = measure}});
    for (const Text& text : testing::texts(layout.list)) {
      if (text.text.starts_with("2")) {
        EXPECT_FALSE(text.text.ends_with("…")) << text.text;
      }
      whole += text.text == "22 home" ? 1 : 0;
    }
  }
  EXPECT_GT(whole, 0);
}

// Horizontal or vertical labels are never cut if the page has space for them.
TEST(TokenAxis, LabelsAreWholeAtAnySize) {
  for (Index length = 2; length <= 24; ++length) {
    Trace trace = testing::synthetic_trace(1, 1, length);
    for (TraceToken& token : trace.tokens) token.label = token.label.substr(0, 5);
    for (double width = 420; width < 800; width += 45) {
      testing::LayoutOptions look;
      look.width = width;
      look.height = 500;
      for (const char* view : {"map", "pattern"}) {
        for (const Text& text : testing::texts(testing::lay_out_view(trace, view, look).list)) {
          EXPECT_EQ(text.text.find("…"), std::string::npos)
              << view << " of " << length << ", " << width << ": " << text.text;
        }
      }
    }
  }
}

// An axis without space for vertical labels has horizontal labels at every cell size.
TEST(TokenAxis, HorizontalLabelsThinOutWhenCellsShrink) {
  Trace trace = testing::synthetic_trace(1, 1, 4);
  for (TraceToken& token : trace.tokens) token.label = "word";
  testing::LayoutOptions look;
  look.settings.height = look.settings.width = 16;
  const ViewLayout layout = testing::lay_out_view(trace, "map", look);
  std::size_t above = 0;
  for (const Text& text : testing::texts(layout.list)) {
    if (text.at.y >= layout.plot.y || text.at.x < layout.plot.x) continue;
    EXPECT_EQ(text.angle, 0) << text.text;
    ++above;
  }
  EXPECT_GE(above, 2u);  // title of the axis, and at least one label
}

// The label under the pointer may exceed its cell.
TEST(TokenAxis, MarkedLabelOverlapsNoOther) {
  const Trace trace = testing::synthetic_trace(1, 1, 4);
  testing::ViewInputFixture fixture(trace, {});
  fixture.input.canvas.width = fixture.input.canvas.height = 400;
  TokenAxis axis;
  axis.labels = {"a", "b", "lighthouse", "keeper"};
  for (Index marked = -1; marked < axis.count(); ++marked) {
    for (double length = 60; length < 380; length += 20) {
      Page page(fixture.input);
      draw_axis_top(page, axis, {0, 4, 20, length}, 200, 120, marked);
      EXPECT_EQ(testing::layout_error(page.take(300)), "") << marked << " of " << length;
    }
  }
}

TEST(TokenAxis, DepthsFitPlot) {
  const Trace trace = testing::synthetic_trace(1, 1, 12);
  testing::ViewInputFixture fixture(trace, {});
  fixture.input.canvas.width = fixture.input.canvas.height = 400;
  const Page page(fixture.input);
  const TokenAxis rows = query_axis(trace, trace.attention[0]);
  const TokenAxis columns = key_axis(trace, trace.attention[0]);
  for (double space = 60; space < 1200; space += 7) {
    const auto plot = [&](const AxisDepths& depths) {
      const double side = std::min(space - depths.left, space - depths.top);
      return PlotSize{side, side};
    };
    const AxisDepths depths = settled_depths(page, rows, columns, {200, 200}, plot);
    EXPECT_GE(depths.left, axis_depth_left(page, rows, plot(depths).height, 200)) << space;
    EXPECT_GE(depths.top, axis_depth_top(page, columns, plot(depths).width, 200)) << space;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
