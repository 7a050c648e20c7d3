// Pairs coloured by the rule that admits them.
#pragma once

#include "core/view/parts/matrix_plot.h"

namespace attnscope {

Colour rule_colour(std::size_t rule);

// The visible pairs of a head: a whole number a rule.
HeatMap rule_cells(const ViewInput& input, const MatrixPlot& matrix, const AttentionTap& tap,
                   Index head);

}  // namespace attnscope
