#include "core/attention/remembered.h"

#include <algorithm>

namespace attnscope {

std::vector<RowSource> memory_sources(const Remembered& remembered, Index first) {
  const auto compressed = remembered.compressed_sources.begin();
  std::vector<RowSource> sources(
      compressed, compressed + static_cast<std::ptrdiff_t>(remembered.compressed_count()));
  const Index count = std::max(remembered.row_count(), remembered.stored_count());
  for (Index row = first - count; row < first; ++row) sources.push_back({row});
  return sources;
}

void recall(const Remembered& remembered, Index first, const Projection& project,
            NamedVars& weights) {
  if (remembered.stored_count() > 0) {
    weights.insert_or_assign("mem.k", Var(remembered.keys));
    weights.insert_or_assign("mem.v", Var(remembered.values));
  }
  if (remembered.row_count() > 0) {
    const auto [k, v] = project(Var(remembered.rows));
    weights.insert_or_assign("mem.k", k);
    weights.insert_or_assign("mem.v", v);
  }
  if (remembered.compressed_count() == 0) return;
  const auto [k, v] = project(Var(remembered.compressed));
  weights.insert_or_assign("compressed.k", k);
  weights.insert_or_assign("compressed.v", v);
  const Index batch = remembered.compressed.dim(0);
  Tensor positions({batch, remembered.compressed_count()});
  for (Index n = 0; n < positions.size(); ++n) {
    positions[n] =
        static_cast<float>(remembered.compressed_positions[static_cast<std::size_t>(n)] - first);
  }
  weights.insert_or_assign("compressed.position", Var(positions));
}

}  // namespace attnscope
