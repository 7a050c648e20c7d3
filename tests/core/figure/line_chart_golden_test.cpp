// Golden files of line charts: pictures, and texts of ticks, labels and legends.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/figure/line_chart.h"
#include "tests/support/golden.h"
#include "tests/support/golden_svg.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// The texts of a chart, in the order in which they are drawn: ticks, labels, title, legend.
std::string join_texts(const DisplayList& list) {
  std::vector<std::string> entries;
  for (const Item& item : list.items) {
    if (const auto* text = std::get_if<Text>(&item)) entries.push_back(text->text);
  }
  return testing::wrapped_entries(entries);
}

class LineChartGolden : public ::testing::Test {
 protected:
  void add_texts(const std::string& name, const LineChart& chart) {
    texts_ += name + "\n" + join_texts(draw(chart, Theme::light(), measure_));
  }
  void expect_svg(const std::string& name, const LineChart& chart) {
    EXPECT_TRUE(testing::matches_golden_svg(draw(chart, Theme::light(), measure_),
                                            "golden/charts/line-chart-" + name + ".svg"));
  }

  const testing::PlainMeasure measure_;
  std::string texts_;
};

constexpr Colour kFirst{1, 2, 3, 255}, kSecond{4, 5, 6, 255}, kThird{7, 8, 9, 255};

LineChart make_chart() {
  LineChart chart;
  chart.title = "Loss";
  chart.x_label = "step";
  chart.y_label = "bits";
  chart.width = 500;
  chart.height = 320;
  chart.curves.push_back(
      {.label = "first", .points = {{0, 1}, {10, 3.3}, {20, 2.1}}, .colour = kFirst});
  chart.curves.push_back({.label = "the second",
                          .points = {{0, -5}, {20, 1}},
                          .colour = kSecond,
                          .thickness = 2,
                          .dots = true});
  chart.curves.push_back({.label = {}, .points = {{5, 0}, {15, 2}}, .colour = kThird});
  return chart;
}

TEST_F(LineChartGolden, LinearAxesMatch) {
  expect_svg("linear", make_chart());
  LineChart small_chart = make_chart();
  small_chart.width = 260;
  small_chart.height = 170;
  small_chart.curves.pop_back();
  small_chart.x.text = [](double tick) { return "<" + std::to_string(std::lround(tick)) + ">"; };
  small_chart.y.text = [](double tick) { return std::to_string(std::lround(tick)) + " units"; };
  expect_svg("small", small_chart);
  add_texts("linear", make_chart());
  LineChart limited_chart = make_chart();  // limits beyond and within the curves
  limited_chart.x.least = -7;
  limited_chart.x.most = 4;
  limited_chart.y.least = -1;
  limited_chart.y.most = 11;
  add_texts("limited", limited_chart);
  LineChart empty_chart = make_chart();
  empty_chart.curves.clear();
  add_texts("empty", empty_chart);
  LineChart single_point_chart = make_chart();
  single_point_chart.curves.resize(1);
  single_point_chart.curves[0].points = {{30, 50}};
  add_texts("one point", single_point_chart);
  single_point_chart.curves[0].points = {{0.25, 0.5}};
  add_texts("one point below 1", single_point_chart);
  EXPECT_TRUE(testing::matches_golden(texts_, "golden/charts/line-chart-linear.txt"));
}

TEST_F(LineChartGolden, LogarithmicAxesMatch) {
  LineChart chart = make_chart();
  chart.x = {.logarithmic = true, .base = 2};
  chart.y = {.logarithmic = true};
  chart.curves[0].points = {{0, 7}, {3, 16.5}, {8, 64}, {17, 310}, {32, -1}, {NAN, 3}, {5, NAN}};
  chart.curves[1].points = {{4, 3}, {20, 90}};
  chart.curves.pop_back();
  expect_svg("logarithmic", chart);
  add_texts("logarithmic", chart);
  chart.x.least = 1;
  chart.x.most = 3e6;
  chart.y.least = 0.002;
  chart.y.most = 2e9;
  add_texts("many powers", chart);
  chart.x.least = 2;
  chart.x.most = 64;
  chart.y.least = 1;
  chart.y.most = 500;
  chart.height = 780;
  add_texts("limits at powers", chart);
  for (const double height : {640, 520}) {
    chart.height = height;
    add_texts("height " + std::to_string(std::lround(height)), chart);
  }
  EXPECT_TRUE(testing::matches_golden(texts_, "golden/charts/line-chart-logarithmic.txt"));
}

// Dashes and dots continue around corners. Many points in a pixel column are thinned out.
TEST_F(LineChartGolden, StrokesMatch) {
  LineChart chart = make_chart();
  chart.curves[0].stroke = LineStroke::Dashed;
  chart.curves[1].stroke = LineStroke::Dotted;
  chart.curves[1].thickness = 1.5;
  chart.curves[1].points = {{17, -4.9}, {18, 1}, {19, -4}};
  chart.curves[2] = {.label = "guide",
                     .points = {{-30, -40}, {40, 50}},
                     .colour = kThird,
                     .stroke = LineStroke::Dashed,
                     .guides = true};
  expect_svg("strokes", chart);
  chart = make_chart();
  chart.curves.resize(1);
  std::vector<Point>& points = chart.curves[0].points;
  points.clear();
  const double heights[] = {5, 3, 9, 4, 4, 7, 1, 6, 2, 2};
  for (int i = 0; i <= 2000; ++i) {
    points.push_back({static_cast<double>(i), heights[(i * i / 7) % 10] + i / 400});
  }
  points.push_back({2100, 4});
  expect_svg("thinned", chart);
}

TEST_F(LineChartGolden, LabelsAtEndsMatch) {
  LineChart chart = make_chart();
  chart.labels_at_ends = true;
  chart.note =
      "A note is wrapped to as many lines as it needs, and a word that is longer than others, "
      "such as incomprehensibility, moves to the next line.";
  const double end_y[] = {9.9, 9.5, 10, 3, 0.2, 0, 0.1};
  const double end_x[] = {20, 20, 19.9, 12, 20, 20, 20};
  chart.curves.clear();
  for (std::size_t n = 0; n < 7; ++n) {  // the ends crowd at the top and at the bottom
    chart.curves.push_back({.label = "curve " + std::string(n, '*'),
                            .points = {{0, 5}, {end_x[n], end_y[n]}, {20, NAN}},
                            .colour = {static_cast<std::uint8_t>(10 * n), 0, 0, 255}});
  }
  chart.curves.push_back({.label = {}, .points = {{0, 2}, {20, 2}}, .colour = kSecond});
  chart.curves.push_back({.label = "without points", .points = {}, .colour = kThird});
  expect_svg("labels-at-ends", chart);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
