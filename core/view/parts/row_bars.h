// Bars next to a matrix, one for each visible row.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/matrix_plot.h"

namespace attnscope {

struct RowBars {
  std::vector<double> values;       // one per row, >= 0; infinity: a full bar; NaN: none
  std::vector<std::string> titles;  // above the bars, the first that fits
  double min_range = 0;  // lower bound of the value of a full bar, so that noise stays small
  std::vector<std::string> numbers{};  // one per row, after its bar if rows are high enough
  std::string unit{};                  // of the values, below the bars if there is space
};

// Draws bars from the left edge of `box`, which has the height of the plot. The longest finite bar
// fills the width. The text below is the value of the hovered row, else the longest bar's value,
// followed by "or ∞" if any value is infinite. Rows within one pixel share a bar for their maximum.
void draw_row_bars(Page& page, const Box& box, const MatrixPlot& matrix, const RowBars& bars);

}  // namespace attnscope
