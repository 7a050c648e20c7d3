// Pan and zoom of a matrix: which cells a plot shows.
#pragma once

#include <optional>

#include "core/experiment/experiment.h"
#include "core/view/view.h"

namespace attnscope::window {

// Rows [row, row + height) and columns [column, column + width), in cells; may be fractions.
struct Cells {
  double row = 0, column = 0, height = 0, width = 0;
};

// Zooms by `factor` (above 1: closer) so that the point (row, column) stays where it is. Never
// shows less than two cells or anything outside of the matrix.
Cells zoomed(const Cells& seen, double factor, double row, double column, Index rows,
             Index columns);
Cells panned(const Cells& seen, double rows_down, double columns_right, Index rows, Index columns);

// Into the experiment; all of the matrix is written as "all" (zeros).
void show(ViewSettings& view, const Cells& seen, Index rows, Index columns);
void show_all(ViewSettings& view);

// The row or the column, of so many, whose label is beside a plot of cells; the other is -1.
// Nothing elsewhere.
struct LabelAt {
  Index row = -1, column = -1;
  bool operator==(const LabelAt&) const = default;
};
std::optional<LabelAt> label_at(const ViewLayout& layout, Point p, Index rows, Index columns);

}  // namespace attnscope::window
