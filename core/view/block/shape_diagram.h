// Matrices as boxes to scale, in the order of a computation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct MatrixBox {
  std::string name;             // "Q"
  Index sheets = 1;             // number of matrices of this shape, such as heads
  Index rows = 0, columns = 0;  // drawn as height and width
  Colour colour;
  std::string shape() const;  // "9 × 12 × 64", without a single sheet
};
// Matrices one below the other, and the operation before them.
struct MatrixColumn {
  std::vector<std::string> operation;  // lines of text at the arrow; empty: no arrow
  std::vector<MatrixBox> boxes;
};

// Draws the columns from left to right, in as many lines as needed, at the largest scale that fits.
// Sides shorter than a minimum are enlarged. Returns the lower edge, or nullopt if the box is too
// small; then nothing is drawn.
std::optional<double> draw_shape_diagram(Page& page, const Box& box,
                                         const std::vector<MatrixColumn>& columns);

}  // namespace attnscope
