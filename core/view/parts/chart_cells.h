// Matrix of coloured cells in the plot of a chart.
#pragma once

#include "core/tensor/tensor.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/range.h"

namespace attnscope {

// Draws the chart, the values [rows, columns] as cells that fill its plot, and the plot's outline.
void draw_chart_cells(Page& page, const Chart& chart, const Tensor& values,
                      const ColourRange& range);

}  // namespace attnscope
