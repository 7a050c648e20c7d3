// Scaling of weights by row. Makes rows with many small weights as visible as rows that attend to a
// single key.
#pragma once

#include "core/view/parts/range.h"

namespace attnscope {

enum class RowScale {
  None,
  Largest,    // relative to the row's largest weight
  EqualShare  // relative to uniform attention over the allowed keys
};
RowScale row_scale_of(const Values& options);  // for views with scale_parameter()

// Unit of the scaled numbers: "times the equal share".
std::string unit_of(RowScale scale);

// Scales `weights`: all weights of a head, or the visible ones at `seen`, whose rows are then
// scaled by their largest visible weight. NaN remains. Returns a new tensor of the same shape.
Tensor row_scaled(const Tensor& weights, RowScale scale, const AttentionTap& tap, Index head,
                  const ShownCells& seen = {});

}  // namespace attnscope
