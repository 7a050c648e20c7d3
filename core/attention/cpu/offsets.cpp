#include "core/attention/cpu/offsets.h"

#include <algorithm>

namespace attnscope::cpu {

void TileOffsets::set(const Prepared& prepared, const Tile& tile) {
  prepared_ = &prepared;
  tile_ = tile;
  has_offsets_ = false;
  rows_ = tile.rows;
  width_ = tile.width;
  is_diagonal_ = prepared.has_unit_steps && tile.is_contiguous() && tile.queries == nullptr;
}

const PairLines<std::int32_t>& TileOffsets::offsets() {
  if (has_offsets_) return offsets_;
  has_offsets_ = true;
  offsets_.resize(rows_, width_, is_diagonal_);
  const std::int32_t* pos_q = prepared_->pos_q.data();
  const std::int32_t* pos_k = prepared_->key_positions(tile_.head);
  if (is_diagonal_) {
    std::int32_t offset = pos_q[tile_.row + rows_ - 1] - pos_k[tile_.columns[0]];
    for (std::int32_t& entry : offsets_.numbers()) entry = offset--;
  } else {
    for (Index r = 0; r < rows_; ++r) {
      std::int32_t* line = offsets_.row(r);
      for (Index x = 0; x < width_; ++x) line[x] = pos_q[tile_.query(r)] - pos_k[tile_.columns[x]];
    }
  }
  return offsets_;
}

const PairLines<std::int32_t>& TileOffsets::buckets(const OffsetIndex& index) {
  const std::vector<std::int32_t>& all_offsets = offsets().numbers();
  buckets_.resize(rows_, width_, is_diagonal_);
  std::transform(all_offsets.begin(), all_offsets.end(), buckets_.numbers().begin(),
                 [&](std::int32_t offset) { return index(offset); });
  const auto [minimum, maximum] =
      std::minmax_element(buckets_.numbers().begin(), buckets_.numbers().end());
  min_bucket_ = *minimum;
  max_bucket_ = *maximum;
  return buckets_;
}

const PairLines<float>& TileOffsets::numbers(const Prepared::Table& table, Index pair) {
  const PairLines<std::int32_t>& bucket = buckets(*table.index);
  const float* column = table.table.at(pair);
  numbers_.resize(rows_, width_, is_diagonal_);
  std::transform(bucket.numbers().begin(), bucket.numbers().end(), numbers_.numbers().begin(),
                 [&](std::int32_t b) { return column[b]; });
  return numbers_;
}

}  // namespace attnscope::cpu
