// Weights of a pinned row or column, as bars with numbers next to the matrix.
#pragma once

#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// Space for the bars: below the plot for a pinned query, to its right for a pinned key. Zero if
// nothing is pinned.
double pinned_row_height(const Page& page, Index pinned_row);
double pinned_column_width(const Page& page, Index pinned_column);

// Draws the bars of m.pinned_row and m.pinned_column. values: [L_q, L_k]. `below`: lower edge of
// the content above the row's bars. Returns the lower edge of the row's bars, or `below`.
double draw_pinned(Page& page, const MatrixPlot& m, const Tensor& values, double below);

}  // namespace attnscope
