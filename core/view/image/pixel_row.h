// What one pixel attends to, pixel by pixel.
#pragma once

#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

// The row of a query on the image's grid; all of them [height, width].
struct PixelRow {
  Index query = 0;             // the pixel that looks
  Tensor rules;                // number of the rule that allows a pixel, NaN: not allowed
  Tensor weights;              // its weight, NaN where it is not allowed
  std::vector<Index> by_rule;  // allowed pixels of each rule
  Index allowed = 0;           // pixels in all
  Index others = 0;            // allowed keys that are no pixels of the grid
  double weight_of_others = 0;
  Index strongest = -1;  // the pixel of the largest weight; -1: none
};
PixelRow pixel_row(const Trace& trace, const AttentionTap& tap, Index head, Index query);

// The key column at which a pixel is seen, -1: none.
Index key_of_pixel(const Trace& trace, const AttentionTap& tap, Index pixel);

// "row 3, column 7"
std::string pixel_words(const PixelGrid& grid, Index pixel);

}  // namespace attnscope
