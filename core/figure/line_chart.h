// Curves over two axes with round ticks, labels, a title and a legend.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace attnscope {

struct Curve {
  std::string label;
  std::vector<Point> points;  // in data units, x rising; points that are not finite are left out
  Colour colour;
  double thickness = 1;
  bool dots = false;  // at every point
};

struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;  // later ones over earlier ones
  double width = 760, height = 440;
};

DisplayList draw(const LineChart& chart, const Theme& theme);

}  // namespace attnscope
