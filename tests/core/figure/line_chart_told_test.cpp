// Charts as lists of what is drawn where, kept beside the tests: with letters that are all of one
// width, so that no font is asked.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "core/figure/line_chart.h"
#include "tests/support/told.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

class EvenLetters : public TextMeasure {
 public:
  double width(const std::string& text, double size, bool bold) const override {
    return static_cast<double>(text.size()) * size * (bold ? 0.7 : 0.6);
  }
};

std::string word(double value) {
  // A little aside: numbers that end in 5 are rounded the same everywhere.
  char text[40];
  std::snprintf(text, sizeof(text), " %.1f", value + 0.003);
  return text;
}

std::string word(Point p) {
  return word(p.x) + word(p.y);
}

std::string word(const Box& box) {
  return word(box.x) + word(box.y) + word(box.width) + word(box.height);
}

std::string word(Colour c) {
  char text[16];
  std::snprintf(text, sizeof(text), " #%02x%02x%02x%02x", c.r, c.g, c.b, c.a);
  return text;
}

struct Words {
  std::string operator()(const FilledBox& item) const {
    return "filled" + word(item.box) + word(item.colour) + " radius" + word(item.radius);
  }
  std::string operator()(const OutlinedBox& item) const {
    return "outlined" + word(item.box) + word(item.colour) + word(item.thickness);
  }
  std::string operator()(const Line& item) const {
    std::string text = "line" + word(item.colour) + word(item.thickness) + ":";
    for (const Point& p : item.points) text += word(p);
    return text;
  }
  std::string operator()(const Text& item) const {
    const char* const aligned[] = {" start", " middle", " end"};
    return "text" + word(item.at) + word(item.colour) + word(item.size) +
           aligned[static_cast<int>(item.align)] + word(item.angle) + (item.bold ? " bold" : "") +
           " " + item.text;
  }
  std::string operator()(const Clip& item) const {
    return item.box ? "clip" + word(*item.box) : "no clip";
  }
  std::string operator()(const HeatMap&) const { return "heat map"; }
  std::string operator()(const ColourImage&) const { return "image"; }
};

std::string drawn(const std::string& name, const LineChart& chart) {
  const DisplayList list = draw(chart, Theme::light(), EvenLetters());
  std::string text = name + word(list.width) + word(list.height) + word(list.background) + "\n";
  for (const Item& item : list.items) text += "  " + std::visit(Words(), item) + "\n";
  return text;
}

constexpr Colour kFirst{1, 2, 3, 255}, kSecond{4, 5, 6, 255}, kThird{7, 8, 9, 255};

LineChart plain() {
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

// Axes, grids, ticks, curves with and without dots, and a legend of those that have names.
std::string of_plain_charts() {
  std::string text = drawn("plain", plain());
  LineChart small = plain();  // of few ticks, and none whose numbers are long
  small.width = 260;
  small.height = 170;
  small.curves.pop_back();
  small.x.text = [](double tick) { return "<" + std::to_string(std::lround(tick)) + ">"; };
  small.y.text = [](double tick) { return std::to_string(std::lround(tick)) + " as they say"; };
  text += drawn("small", small);
  LineChart reaching = plain();  // farther than its curves do, and not as far
  reaching.x.least = -7;
  reaching.x.most = 4;
  reaching.y.least = -1;
  reaching.y.most = 11;
  text += drawn("reaching", reaching);
  LineChart nothing = plain();
  nothing.curves.clear();
  text += drawn("nothing", nothing);
  LineChart one = plain();
  one.curves.resize(1);
  one.curves[0].points = {{30, 50}};
  text += drawn("one point", one);
  one.curves[0].points = {{0.25, 0.5}};
  text += drawn("one small point", one);
  return text;
}

std::string of_logarithmic_charts() {
  LineChart chart = plain();
  chart.x = {.logarithmic = true, .base = 2};
  chart.y = {.logarithmic = true};
  chart.curves[0].points = {{0, 7}, {3, 16.5}, {8, 64}, {17, 310}, {32, -1}, {NAN, 3}, {5, NAN}};
  chart.curves[1].points = {{4, 3}, {20, 90}};
  chart.curves.pop_back();
  std::string text = drawn("logarithmic", chart);
  chart.x.least = 1;
  chart.x.most = 3e6;  // of whose powers of two some have ticks
  chart.y.least = 0.002;
  chart.y.most = 2e9;
  text += drawn("of many powers", chart);
  chart.x.least = 2;
  chart.x.most = 64;  // from a tick to a tick
  chart.y.least = 1;
  chart.y.most = 500;
  chart.height = 780;
  text += drawn("from a power to a power", chart);
  chart.height = 640;  // as many ticks as there is room for
  text += drawn("as many powers as fit", chart);
  chart.curves[0].points.push_back({24, 0});  // which has no logarithm
  text += drawn("with nothing", chart);
  chart.curves[0].points.pop_back();
  chart.height = 520;  // for the powers alone
  return text + drawn("powers without what is between", chart);
}

// Which are dashed and dotted around corners, and thinned where many points share a column.
std::string of_strokes() {
  LineChart chart = plain();
  chart.curves[0].stroke = LineStroke::Dashed;
  chart.curves[1].stroke = LineStroke::Dotted;
  chart.curves[1].thickness = 1.5;
  chart.curves[1].points = {{17, -4.9}, {18, 1}, {19, -4}};
  chart.curves[2] = {.label = "guide",
                     .points = {{-30, -40}, {40, 50}},
                     .colour = kThird,
                     .stroke = LineStroke::Dashed,
                     .guides = true};
  std::string text = drawn("strokes", chart);
  chart = plain();
  chart.curves.resize(1);
  std::vector<Point>& points = chart.curves[0].points;
  points.clear();
  const double heights[] = {5, 3, 9, 4, 4, 7, 1, 6, 2, 2};
  for (int i = 0; i <= 2000; ++i) {  // some five to a column, and a last one by itself
    points.push_back({static_cast<double>(i), heights[(i * i / 7) % 10] + i / 400});
  }
  points.push_back({2100, 4});
  return text + drawn("thinned", chart);
}

std::string of_labels_at_ends() {
  LineChart chart = plain();
  chart.labels_at_ends = true;
  chart.note =
      "Of a note as many lines are made as it takes where letters are this wide, which "
      "is a few of them, and a word that is longer than others: incomprehensibility.";
  const double ends[] = {9.9, 9.5, 10, 3, 0.2, 0, 0.1};
  const double until[] = {20, 20, 19.9, 12, 20, 20, 20};
  chart.curves.clear();
  for (std::size_t n = 0; n < 7; ++n) {  // crowded at the top and at the bottom
    chart.curves.push_back({.label = "curve " + std::string(n, '*'),
                            .points = {{0, 5}, {until[n], ends[n]}, {20, NAN}},
                            .colour = {static_cast<std::uint8_t>(10 * n), 0, 0, 255}});
  }
  chart.curves.push_back({.label = {}, .points = {{0, 2}, {20, 2}}, .colour = kSecond});
  chart.curves.push_back({.label = "without points", .points = {}, .colour = kThird});
  return drawn("labels at ends", chart);
}

TEST(LineChart, IsDrawnAsTold) {
  EXPECT_TRUE(testing::is_as_told(
      of_plain_charts() + of_logarithmic_charts() + of_strokes() + of_labels_at_ends(),
      "core/figure/line_charts.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
