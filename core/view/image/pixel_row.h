// Attention of one pixel, arranged as an image.
#pragma once

#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

// Attention row of a query, with its keys at their pixels; tensors are [height, width].
struct PixelRow {
  Index query = 0;             // query row
  Tensor rules;                // index of the admitting rule; NaN: excluded
  Tensor weights;              // attention weight; NaN: excluded
  std::vector<Index> by_rule;  // allowed pixels by rule
  Index allowed = 0;           // total allowed pixels
  Index others = 0;            // allowed keys that are not pixels
  double others_weight = 0;    // total weight of the others
  Index strongest = -1;        // pixel with the largest weight; -1: none
};
PixelRow pixel_row(const Trace& trace, const AttentionTap& tap, Index head, Index query);

// Key column of a pixel; -1: none.
Index key_of_pixel(const Trace& trace, const AttentionTap& tap, Index pixel);

// "row 3, column 7"
std::string describe_pixel(const PixelGrid& grid, Index pixel);

}  // namespace attnscope
