#include "core/view/map/row_scale.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

RowScale row_scale_of(const Values& options) {
  const std::string& scale = options.choice("scale");
  if (scale == "row") return RowScale::Largest;
  return scale == "share" ? RowScale::EqualShare : RowScale::None;
}

std::string unit_of(RowScale scale) {
  if (scale == RowScale::Largest) return "relative to the row's largest weight";
  return scale == RowScale::EqualShare ? "times the equal share" : "attention weight";
}

Tensor row_scaled(const Tensor& weights, RowScale scale, const AttentionTap& tap, Index head,
                  const ShownCells& region) {
  const Pattern& pattern = *tap.result.pattern;
  Tensor numbers = weights.copy();
  const Index columns = weights.dim(1);
  for (Index r = 0; r < weights.dim(0); ++r) {
    float* row = numbers.data() + r * columns;
    float factor = 1;
    if (scale == RowScale::Largest) {
      float largest = 0;
      for (Index c = 0; c < columns; ++c) largest = std::max(largest, std::abs(row[c]));
      factor = largest > 0 ? 1 / largest : 1;
    } else if (scale == RowScale::EqualShare) {
      const Index query = std::min(region.row + r * region.step, pattern.queries() - 1);
      factor = static_cast<float>(pattern.row_size(pattern.heads() > 1 ? head : 0, query));
    }
    for (Index c = 0; c < columns; ++c) row[c] *= factor;
  }
  return numbers;
}

}  // namespace attnscope
