// Curves over two axes with round ticks, labels, a title and a legend.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace attnscope {

enum class LineStroke { Solid, Dashed, Dotted };

struct Curve {
  std::string label;          // empty: it has no entry in the legend
  std::vector<Point> points;  // in data units, x rising; points that are not finite are left out
  Colour colour;
  double thickness = 1;
  bool dots = false;  // at every point
  LineStroke stroke = LineStroke::Solid;
  bool guides = false;  // a guide for the eye: the axes do not reach farther for it
};

struct LineChartAxis {
  bool logarithmic = false;                   // then of numbers above 0; others are left out
  double base = 10;                           // of which powers get ticks, on a logarithmic one
  std::function<std::string(double)> text{};  // of a tick; empty: the number
  double least = 0, most = 0;  // reaches from here to there at least; the same: as far as curves do
};

struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;  // later ones over earlier ones
  double width = 760, height = 440;
  LineChartAxis x{}, y{};
  bool labels_at_ends = false;  // beside the plot, where curves end, in place of a legend
  std::string note{};           // below it, in as many lines as it takes
};

DisplayList draw(const LineChart& chart, const Theme& theme);
// On the screen, whose letters are others.
DisplayList draw(const LineChart& chart, const Theme& theme, const TextMeasure& measure);

}  // namespace attnscope
