// A number for each visible row of a matrix, as bars beside it.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/matrix_plot.h"

namespace attnscope {

struct RowBars {
  std::vector<double> values;       // one a row, at least 0; infinity: a full bar; NaN: none
  std::vector<std::string> titles;  // above the bars, the first that fits
  double least_range = 0;           // full bars stand for this at least: noise is not drawn large
  std::vector<std::string> numbers{};  // one a row, behind its bar where rows are high enough
};

// Bars from the left edge of `box`, which is as high as the plot; the longest finite one of the
// visible rows fills it; its number stands at the foot, with "∞" where there are infinite ones. The
// hovered row's number stands there instead. Rows that share a pixel show their largest.
void draw_row_bars(Page& page, const Box& box, const MatrixPlot& matrix, const RowBars& bars);

}  // namespace attnscope
