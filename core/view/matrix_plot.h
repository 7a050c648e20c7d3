// What views of one [L_q x L_k] matrix share: where the cells go, both axes, the visible part,
// the cross-hair, what lies under the pointer.
#pragma once

#include "core/view/token_axis.h"

namespace attnscope {

struct MatrixPlot {
  TokenAxis rows, columns;
  double left = 0, top = 0;  // depth of the axes
  Box plot;                  // the cells; empty when there is no space for them
  Box right;                 // what is left for a colour bar or a legend, as high as the plot
  double note_y = 0;         // the middle of the line for a note below the plot
  // The visible part, in cells.
  double row = 0, column = 0, height = 0, width = 0;
  Index hovered_row = -1, hovered_column = -1;

  double scale = 1;  // pixels per unit

  bool pooled() const { return width > plot.width * scale || height > plot.height * scale; }
  double bottom(const Page& page) const;  // where plot and note end
};

// Places everything within `inside`; the space to the right of the plot is `right` wide. Cells are
// square where that does not make the plot a thin strip.
MatrixPlot place_matrix(const Page& page, const Box& inside, const AttentionTap& tap,
                        double right_width);

// What goes over the cells: axes, the border, lines between kinds of columns, cross-hair, and where
// there are more cells than pixels the first of the notes that fits.
void draw_matrix_frame(Page& page, const MatrixPlot& matrix,
                       const std::vector<std::string>& pooling_note);

// Box and visible part of the heat map that shows the cells.
HeatMap matrix_cells(const MatrixPlot& matrix);

// The page, whose content ends at `bottom`, as a layout whose pairs can be hit.
ViewLayout matrix_layout(Page& page, const MatrixPlot& matrix, double bottom);

// In place of the matrix: it has no space.
ViewLayout no_space(Page& page);

}  // namespace attnscope
