// Horizontal bars with their labels and values.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace attnscope {

struct Bar {
  std::string label;
  double value = 0;  // not finite: no bar
};

struct BarChart {
  std::string title, value_label;
  std::vector<Bar> bars;  // from top to bottom
  double width = 760;
  bool logarithmic = false;  // bars begin at a tenth of the smallest value, else at 0
  std::string note{};        // text below the bars, wrapped
};

// As high as its bars and note need.
DisplayList draw(const BarChart& chart, const Theme& theme, const TextMeasure& measure);

}  // namespace attnscope
