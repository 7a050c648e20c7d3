// Wraps boxes into lines, like words.
#pragma once

#include <vector>

#include "core/figure/display_list.h"

namespace attnscope {

struct LineBreaks {
  double width;   // width of a line; wider boxes are narrowed
  double gap;     // space between the boxes of a line
  double line;    // distance from line to line
  double height;  // height of a box
};

// Positions of boxes with these widths, the first at (0, 0).
std::vector<Box> wrap_boxes(const std::vector<double>& widths, const LineBreaks& breaks);

}  // namespace attnscope
