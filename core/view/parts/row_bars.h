// Bars next to a matrix, one for each visible row.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/matrix_plot.h"

namespace attnscope {

struct RowBars {
  std::vector<double> values;          // one per row, >= 0; infinity: a full bar; NaN: none
  std::vector<std::string> titles;     // above the bars, the first that fits
  double least_range = 0;              // minimum value of a full bar, so that noise stays small
  std::vector<std::string> numbers{};  // one per row, after its bar if rows are high enough
};

// Draws bars from the left edge of `box`, which is as high as the plot. The longest finite bar
// fills its width; its value (with "∞" if there are infinite ones), or that of the hovered row, is
// below. Rows that share a pixel show their largest value.
void draw_row_bars(Page& page, const Box& box, const MatrixPlot& matrix, const RowBars& bars);

}  // namespace attnscope
