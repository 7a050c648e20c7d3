// Cells coloured by the rule that admits each pair.
#pragma once

#include "core/view/parts/matrix_plot.h"

namespace attnscope {

Colour rule_colour(std::size_t rule);

// Heat map of the visible pairs of a head; values are rule indices.
HeatMap rule_cells(const ViewInput& input, const MatrixPlot& matrix, const AttentionTap& tap,
                   Index head);

}  // namespace attnscope
