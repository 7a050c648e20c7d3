// Boxes in lines, like words.
#pragma once

#include <vector>

#include "core/figure/display_list.h"

namespace attnscope {

struct LineBreaks {
  double width;   // of a line; a wider box is cut to it
  double gap;     // between boxes of a line
  double line;    // from line to line
  double height;  // of a box
};

// Where boxes of these widths go, the first at (0, 0).
std::vector<Box> broken_into_lines(const std::vector<double>& widths, const LineBreaks& breaks);

}  // namespace attnscope
