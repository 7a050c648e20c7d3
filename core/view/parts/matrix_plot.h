// What views of one [L_q x L_k] matrix share: where the cells go, both axes, the visible part,
// the cross-hair, what lies under the pointer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/view/parts/token_axis.h"

namespace attnscope {

// Which cells are asked for; width or height 0: all.
struct CellWindow {
  double row = 0, column = 0, height = 0, width = 0;
};
CellWindow cell_window(const ViewSettings& settings);

struct MatrixPlot {
  TokenAxis rows, columns;
  double left = 0, top = 0;  // depth of the axes
  Box plot;                  // the cells; empty when there is no space for them
  Box right;                 // what is left for a colour bar or a legend, as high as the plot
  double note_y = 0;         // the middle of the line for a note below the plot
  // The visible part, in cells.
  double row = 0, column = 0, height = 0, width = 0;
  Index hovered_row = -1, hovered_column = -1;
  bool row_labels = true;                     // false: those of a plot to the left hold
  Index pinned_row = -1, pinned_column = -1;  // ViewSettings', where there are such cells

  double scale = 1;  // pixels per unit

  bool pooled() const { return width > plot.width * scale || height > plot.height * scale; }
  double bottom(const Page& page) const;  // where plot and note end
  Box cell(Index row, Index column) const;
};

// Brings what is asked for to where at least a part of the matrix is in sight.
void set_visible(MatrixPlot& matrix, const CellWindow& asked);

// Places everything within `inside`; the space to the right of the plot is `right` wide. Cells are
// square where that does not make the plot a thin strip.
MatrixPlot place_matrix(const Page& page, const Box& inside, const AttentionTap& tap,
                        double right_width);
// The same for all cells between these axes, whatever is zoomed or pinned elsewhere.
MatrixPlot place_matrix(const Page& page, const Box& inside, TokenAxis rows, TokenAxis columns,
                        double right_width);

// The cell at a point of the plot, [query, key]; -1 where there is none. A few numbers that may be
// kept after the page is gone.
struct PairAt {
  Box plot;
  double row, column, height, width;
  Index rows, columns;
  std::pair<Index, Index> operator()(Point p) const;
};
PairAt pair_at(const MatrixPlot& matrix);
// A matrix whose pairs can be pointed at, and whose they are.
struct HitMatrix {
  PairAt pair_at;
  Index layer, head;
  bool of_reference = false;  // see Hit
};
// ViewLayout::hit: the pair of the first of these matrices that has one there.
std::function<std::optional<Hit>(Point)> hits_of(std::vector<HitMatrix> matrices);

// What goes over the cells: axes, the border, lines between kinds of columns, cross-hair, and where
// there are more cells than pixels the first of the notes that fits.
void draw_matrix_frame(Page& page, const MatrixPlot& matrix,
                       const std::vector<std::string>& pooling_note);

// Marks a cell as the last of its row that counts: outlined from within, thinner where cells are
// low; where an outline would fill them, by a line at its end.
void draw_last_cell(Page& page, const Box& cell);
bool outlines_last(const Box& cell);

// Box and visible part of the heat map that shows the cells.
HeatMap matrix_cells(const MatrixPlot& matrix);

// The page, whose content ends at `bottom`, as a layout whose pairs can be hit.
ViewLayout matrix_layout(Page& page, const MatrixPlot& matrix, double bottom);

}  // namespace attnscope
