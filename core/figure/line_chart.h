// Curves over two axes with round ticks, labels, a title and a legend.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace attnscope {

enum class LineStroke { Solid, Dashed, Dotted };

struct Curve {
  std::string label;          // empty: no legend entry
  std::vector<Point> points;  // in data units, x ascending; non-finite points are skipped
  Colour colour;
  double thickness = 1;
  bool dots = false;  // draws a dot at every point
  LineStroke stroke = LineStroke::Solid;
  bool guides = false;  // a guide for the eye; does not extend the axes
};

struct LineChartAxis {
  bool logarithmic = false;                   // skips values that are not positive
  double base = 10;                           // base of the ticks of a logarithmic axis
  std::function<std::string(double)> text{};  // tick label; empty: the number
  double least = 0, most = 0;  // range to include besides the curves' range; none if least == most
};

struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;  // drawn in this order
  double width = 760, height = 440;
  LineChartAxis x{}, y{};
  bool labels_at_ends = false;  // labels at the ends of curves instead of a legend
  std::string note{};           // text below the plot, wrapped
};

// Area of the curves in draw()'s picture, and the values of a linear x axis at its sides.
struct LineChartPlot {
  Box box;
  double first_x = 0, last_x = 1;
};
LineChartPlot plot_of(const LineChart& chart, const TextMeasure& measure);

DisplayList draw(const LineChart& chart, const Theme& theme);
// Draws with another text measure, for example the screen's.
DisplayList draw(const LineChart& chart, const Theme& theme, const TextMeasure& measure);

}  // namespace attnscope
