// Pan and zoom of a matrix: the range of visible cells.
#pragma once

#include <optional>

#include "core/experiment/session.h"
#include "core/view/view.h"

namespace attnscope::window {

// Rows [row, row + height) and columns [column, column + width), in cells; fractions allowed.
struct Cells {
  double row = 0, column = 0, height = 0, width = 0;
};

// Zooms by `factor` (above 1: zooms in) and keeps the point (row, column) in place. The visible
// range stays inside the matrix and has at least two rows and columns.
Cells zoom_cells(const Cells& visible, double factor, double row, double column, Index rows,
                 Index columns);
Cells pan_cells(const Cells& visible, double rows_down, double columns_right, Index rows,
                Index columns);

// Stores the range in the view; the whole matrix is stored as zeros.
void show(ViewSettings& view, const Cells& visible, Index rows, Index columns);
void show_all(ViewSettings& view);

// Row or column of a label next to a plot; the other index is -1. label_at(): the label at `p`.
struct LabelAt {
  Index row = -1, column = -1;
  bool operator==(const LabelAt&) const = default;
};
std::optional<LabelAt> label_at(const ViewLayout& layout, Point p, Index rows, Index columns);

}  // namespace attnscope::window
