// Layout of an [L_q x L_k] matrix: cells, both axes, visible region, cross-hair, hit test.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/view/parts/token_axis.h"

namespace attnscope {

// Requested region in cells; width or height 0: all cells.
struct CellWindow {
  double row = 0, column = 0, height = 0, width = 0;
};
CellWindow cell_window(const ViewSettings& settings);

// Minimum side of a matrix in units. Views omit neighbouring parts, such as bars, rather than
// making the matrix smaller.
inline constexpr double kMinMapSide = 300;

struct MatrixPlot {
  TokenAxis rows, columns;
  double left = 0, top = 0;  // depth of the axes
  Box plot;                  // the cells; empty if they do not fit
  Box right;                 // space for a colour bar or legend, as high as the plot
  double note_y = 0;         // middle of the line for a note below the plot
  // Visible region, in cells.
  double row = 0, column = 0, height = 0, width = 0;
  Index hovered_row = -1, hovered_column = -1;
  bool row_labels = true;                     // false: only the plot to the left has row labels
  Index pinned_row = -1, pinned_column = -1;  // pins of ViewSettings; -1 if outside the matrix

  double scale = 1;  // pixels per unit

  bool pooled() const { return width > plot.width * scale || height > plot.height * scale; }
  double bottom(const Page& page) const;  // lower edge of plot and note
  Box cell(Index row, Index column) const;
};

// Sets the visible region to `requested`, moved so that a part of the matrix is visible.
void set_visible(MatrixPlot& matrix, const CellWindow& requested);

// Places axes and cells within `inside`, keeping `right_width` free to the right of the plot. Cells
// are square unless that makes the plot a thin strip.
MatrixPlot place_matrix(const Page& page, const Box& inside, const AttentionTap& tap,
                        double right_width);
// Places all cells of these axes, ignoring zoom and pins.
MatrixPlot place_matrix(const Page& page, const Box& inside, TokenAxis rows, TokenAxis columns,
                        double right_width);

// Maps a point to the query and key of its cell; -1 outside. May outlive the page.
struct PairAt {
  Box plot;
  double row, column, height, width;
  Index rows, columns;
  std::pair<Index, Index> operator()(Point p) const;
};
PairAt pair_at(const MatrixPlot& matrix);
// Hit test of a matrix, and the head that the matrix shows.
struct HitMatrix {
  PairAt pair_at;
  Index layer, head;
  bool of_reference = false;  // see Hit
};
// ViewLayout::hit for several matrices: reports the first matrix that contains the point.
std::function<std::optional<Hit>(Point)> hit_test(std::vector<HitMatrix> matrices);

// Draws axes, border, lines between kinds of columns and the cross-hair; if there are more cells
// than pixels, also the first of `pooling_notes` that fits.
void draw_matrix_frame(Page& page, const MatrixPlot& matrix,
                       const std::vector<std::string>& pooling_notes);

// Marks the last attended cell of a row with an outline, or with a line at the cell's end if an
// outline would fill the cell.
void draw_row_end_marker(Page& page, const Box& cell);
bool has_row_end_outline(const Box& cell);

// Heat map with the box and visible region of the matrix, without values.
HeatMap matrix_cells(const MatrixPlot& matrix);

// Layout of a page whose content ends at `bottom`, with a hit test of pairs.
ViewLayout matrix_layout(Page& page, const MatrixPlot& matrix, double bottom);

}  // namespace attnscope
