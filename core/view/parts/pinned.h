// The weights of a pinned row or column, as bars beside the matrix with readable numbers.
#pragma once

#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// The space that the bars take: of a pinned query below the plot, of a pinned key to its right.
// Zero where nothing is pinned.
double pinned_row_height(const Page& page, Index pinned_row);
double pinned_column_width(const Page& page, Index pinned_column);

// Draws the bars of m.pinned_row and m.pinned_column. values: [L_q, L_k]. `below`: where the
// content above the row's bars ends. Returns where all of it ends.
double draw_pinned(Page& page, const MatrixPlot& m, const Tensor& values, double below);

}  // namespace attnscope
