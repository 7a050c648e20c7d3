#include "core/figure/line_chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/figure/render.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

LineChart make_chart() {
  LineChart chart;
  chart.title = "A title";
  chart.x_label = "across";
  chart.y_label = "up";
  chart.curves.push_back({"first", {{0, 1}, {10, 3}, {20, 2}}, {1, 2, 3, 255}, 1, false});
  chart.curves.push_back({"second", {{0, 5}, {20, 1}}, {4, 5, 6, 255}, 2, true});
  return chart;
}

template <class Primitive>
std::vector<Primitive> find_items(const DisplayList& list) {
  std::vector<Primitive> result;
  for (const Item& item : list.items) {
    if (const auto* primitive = std::get_if<Primitive>(&item)) result.push_back(*primitive);
  }
  return result;
}

std::vector<Line> find_lines(const DisplayList& list, Colour colour) {
  std::vector<Line> lines = find_items<Line>(list);
  std::erase_if(lines, [&](const Line& line) { return !(line.colour == colour); });
  return lines;
}

TEST(LineChart, ContainsAllLabels) {
  const DisplayList list = draw(make_chart(), Theme::light());
  std::vector<std::string> texts;
  for (const Text& text : find_items<Text>(list)) {
    texts.push_back(text.text);
    EXPECT_TRUE(text.at.x >= 0 && text.at.x <= list.width && text.at.y >= 0 &&
                text.at.y <= list.height)
        << text.text;
  }
  for (const char* expected : {"A title", "across", "up", "first", "second", "0", "20"}) {
    EXPECT_NE(std::find(texts.begin(), texts.end(), expected), texts.end()) << expected;
  }
}

TEST(LineChart, ShortensTitlesWiderThanTheChart) {
  LineChart chart = make_chart();
  chart.width = 300;
  for (const int words : {1, 4, 5, 40}) {
    chart.title.clear();
    for (int n = 0; n < words; ++n) chart.title += "weights¹ ";
    const DisplayList list = draw(chart, Theme::light());
    const auto titles = find_items<Text>(list);
    const auto title = std::ranges::find_if(titles, &Text::bold);
    ASSERT_NE(title, titles.end());
    const double half_width = file_text_measure().width(title->text, title->size, true) / 2;
    EXPECT_GE(title->at.x - half_width, 0);
    EXPECT_LE(title->at.x + half_width, chart.width);
    EXPECT_EQ(title->text == chart.title, words < 4) << title->text;
    EXPECT_EQ(title->text.ends_with("…"), words >= 4) << title->text;
  }
}

TEST(LineChart, PlacesPointsByValue) {
  const DisplayList list = draw(make_chart(), Theme::light());
  const Box plot = find_items<OutlinedBox>(list).front().box;
  const std::vector<Line> first = find_lines(list, {1, 2, 3, 255});  // curve, legend sample
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(first[0].points.size(), 3u);
  EXPECT_NEAR(first[0].points[0].x, plot.x, 1e-9);
  EXPECT_NEAR(first[0].points[1].x, plot.x + plot.width / 2, 1e-9);
  EXPECT_NEAR(first[0].points[2].x, plot.right(), 1e-9);
  // y is linear: 3 is as far above 1 as 5 is above 3.
  const std::vector<Line> second = find_lines(list, {4, 5, 6, 255});
  EXPECT_NEAR(first[0].points[0].y - first[0].points[1].y,
              first[0].points[1].y - second[0].points[0].y, 1e-9);
  for (const Line& line : {first[0], second[0]}) {
    for (const Point& p : line.points) {
      EXPECT_TRUE(p.y > plot.y && p.y < plot.bottom());
    }
  }
}

TEST(LineChart, SkipsNonFinitePoints) {
  LineChart chart = make_chart();
  chart.curves[0].points = {{0, NAN}, {1, 2}, {2, INFINITY}, {3, 4}};
  chart.curves.pop_back();
  const std::vector<Line> lines = find_lines(draw(chart, Theme::light()), {1, 2, 3, 255});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].points.size(), 2u);
}

TEST(LineChart, KeepsExtremesOfManyPoints) {
  LineChart chart = make_chart();
  std::vector<Point>& points = chart.curves[0].points;
  points.clear();
  for (int i = 0; i < 200000; ++i)
    points.push_back({static_cast<double>(i), i == 77777 ? 9.0 : 1.0});
  const std::vector<Line> lines = find_lines(draw(chart, Theme::light()), {1, 2, 3, 255});
  EXPECT_LT(lines[0].points.size(), 4u * 800);
  const auto by_y = [](Point a, Point b) { return a.y < b.y; };
  const auto [high, low] =
      std::minmax_element(lines[0].points.begin(), lines[0].points.end(), by_y);
  EXPECT_GT(low->y - high->y, 100);
  EXPECT_TRUE(std::is_sorted(lines[0].points.begin(), lines[0].points.end(),
                             [](Point a, Point b) { return a.x < b.x; }));
}

TEST(LineChart, DrawsSinglePointsAndEmptyCurves) {
  LineChart chart = make_chart();
  chart.curves[0].points = {{3, 7}};
  chart.curves.pop_back();
  EXPECT_EQ(find_items<FilledBox>(draw(chart, Theme::light())).size(),
            2u);  // dot, legend background
  chart.curves[0].points.clear();
  const Image image = render_image(draw(chart, Theme::dark()), 1);
  EXPECT_EQ(image.width, static_cast<int>(chart.width));
}

// On logarithmic axes, equal ratios have equal lengths and a power law is a straight line.
TEST(LineChart, DrawsLogarithmicAxes) {
  LineChart chart;
  chart.x = {.logarithmic = true, .base = 2};
  chart.y = {.logarithmic = true};
  const Colour colour{1, 2, 3, 255};
  chart.curves.push_back({.label = "square",
                          .points = {{0, 7}, {4, 16}, {8, 64}, {16, 256}, {32, -1}},
                          .colour = colour,
                          .thickness = 1});
  const DisplayList list = draw(chart, Theme::light());
  const std::vector<Point> points = find_lines(list, colour)[0].points;
  ASSERT_EQ(points.size(), 3u);  // positive points only
  EXPECT_NEAR(points[1].x - points[0].x, points[2].x - points[1].x, 1e-9);
  EXPECT_NEAR(points[1].y - points[0].y, points[2].y - points[1].y, 1e-9);
  std::vector<std::string> texts;
  for (const Text& text : find_items<Text>(list)) texts.push_back(text.text);
  for (const char* tick : {"4", "8", "16", "20", "100"}) {
    EXPECT_NE(std::find(texts.begin(), texts.end(), tick), texts.end()) << tick;
  }
}

// Labels are next to the plot in the order of the curves' ends, without overlap.
TEST(LineChart, LabelsAtEndsDoNotOverlap) {
  LineChart chart = make_chart();
  chart.labels_at_ends = true;
  chart.curves.push_back({"third", {{0, 1}, {20, 1.05}}, {7, 8, 9, 255}, 1, false});
  chart.curves.push_back(
      {"guide", {{0, 1}, {20, 900}}, {9, 9, 9, 255}, 1, false, LineStroke::Dotted, true});
  chart.curves.back().label.clear();
  chart.note = "What it is";
  const DisplayList list = draw(chart, Theme::light());
  const Box plot = find_items<OutlinedBox>(list).front().box;
  std::vector<double> heights;
  for (const Text& text : find_items<Text>(list)) {
    if (text.text != "first" && text.text != "second" && text.text != "third") continue;
    EXPECT_GT(text.at.x, plot.right());
    EXPECT_LE(text.at.x + file_text_measure().width(text.text, text.size), list.width);
    heights.push_back(text.at.y);
  }
  ASSERT_EQ(heights.size(), 3u);
  std::sort(heights.begin(), heights.end());
  EXPECT_GE(heights[1] - heights[0], 13);
  EXPECT_GE(heights[2] - heights[1], 13);
  const std::vector<Line> dots = find_lines(list, {9, 9, 9, 255});
  EXPECT_GT(dots.size(), 10u);  // segments of a dotted line
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
