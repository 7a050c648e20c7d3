// Scaling of weights by row, which makes rows of many small weights as visible as rows that attend
// to a single key.
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

// A scaled copy of `weights`, which cover the whole map of a head or its visible `region`. In a
// region, Largest refers to the largest visible weight of a row. NaN stays NaN.
Tensor row_scaled(const Tensor& weights, RowScale scale, const AttentionTap& tap, Index head,
                  const ShownCells& region = {});

}  // namespace attnscope
