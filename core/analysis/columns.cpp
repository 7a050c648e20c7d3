#include "core/analysis/columns.h"

#include <limits>

namespace attnscope {

double ColumnSum::mean_without(double weight) const {
  if (count < 2) return std::numeric_limits<double>::quiet_NaN();
  const double rest = sum - weight;
  return (rest < 0 ? 0 : rest) / static_cast<double>(count - 1);  // NaN stays NaN
}

std::vector<ColumnSum> column_sums(const AttentionTap& tap, const Tensor& weights) {
  std::vector<ColumnSum> columns(static_cast<std::size_t>(weights.dim(1)));
  const Index offset = weights.dim(1) - weights.dim(0);  // keys before the first query
  for (Index row = 0; row < weights.dim(0); ++row) {
    for (Index c = 0; c < weights.dim(1); ++c) {
      const auto weight = static_cast<double>(weights(row, c));
      if ((tap.causal && c > row + offset) || !(weight >= 0)) continue;
      columns[static_cast<std::size_t>(c)].sum += weight;
      ++columns[static_cast<std::size_t>(c)].count;
    }
  }
  return columns;
}

}  // namespace attnscope
