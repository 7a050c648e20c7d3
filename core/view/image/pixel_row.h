// Attention of one pixel, arranged as an image.
#pragma once

#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

// Attention row of a query, arranged by the pixels of its keys; tensors are [height, width].
struct PixelRow {
  Index query = 0;             // row of the attention map
  Tensor rules;                // index of the rule that admits the pixel; NaN: excluded
  Tensor weights;              // attention weight; NaN: excluded
  std::vector<Index> by_rule;  // number of allowed pixels by rule
  Index allowed = 0;           // number of allowed pixels
  Index others = 0;            // number of allowed keys that are not pixels
  double others_weight = 0;    // total weight of these other keys
  Index strongest = -1;        // pixel with the largest weight; -1: none
};
PixelRow pixel_row(const Trace& trace, const AttentionTap& tap, Index head, Index query);

// Key column of a pixel; -1: none.
Index key_of_pixel(const Trace& trace, const AttentionTap& tap, Index pixel);

// "row 3, column 7"
std::string describe_pixel(const PixelGrid& grid, Index pixel);

}  // namespace attnscope
