// Weights in the measure of their own row: rows that look widely, and so have small weights, are
// seen as well as those that look at one key.
#pragma once

#include "core/view/parts/range.h"

namespace attnscope {

enum class RowScale {
  None,
  Largest,    // shares of the row's largest weight
  EqualShare  // times what each allowed key would have if all had the same
};
RowScale row_scale_of(const Values& options);  // of a view that has scale_parameter()

// What the numbers are then, many words and few: "times the equal share".
std::string unit_of(RowScale scale);

// `weights`: of a head of this tap, all of them or those that `seen` describes (of which the
// largest of a row is that in sight). NaN stays. A new tensor of the same shape.
Tensor row_scaled(const Tensor& weights, RowScale scale, const AttentionTap& tap, Index head,
                  const ShownCells& seen = {});

}  // namespace attnscope
