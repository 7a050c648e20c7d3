#include "core/analysis/row.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attnscope {

RowStatistics row_statistics(const float* weights, Index count, Index max_strongest) {
  RowStatistics row;
  if (count <= 0) return row;
  for (Index j = 0; j < count; ++j) {
    const auto w = static_cast<double>(weights[j]);
    row.sum += w;
    row.has_negative |= w < 0;
    if (w > 0) row.entropy -= w * std::log2(w);
  }
  row.effective = std::exp2(row.entropy);
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  const auto end = order.begin() + std::clamp<Index>(max_strongest, 1, count);
  // Ties are broken by the lower column.
  std::partial_sort(order.begin(), end, order.end(), [weights](Index a, Index b) {
    const float first = std::abs(weights[a]), second = std::abs(weights[b]);
    return first != second ? first > second : a < b;
  });
  if (weights[order.front()] != 0) row.largest = order.front();
  for (auto it = order.begin(); it != end && max_strongest > 0; ++it) {
    if (weights[*it] != 0) row.strongest.push_back(*it);
  }
  return row;
}

}  // namespace attnscope
