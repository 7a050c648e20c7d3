// Position offsets of the pairs of a tile, with their buckets and table entries.
#pragma once

#include <vector>

#include "core/attention/cpu/columns.h"

namespace attnscope::cpu {

// One number per pair of a tile: row(r)[x] for row r and column x. If positions are consecutive,
// all pairs on a diagonal have the same offset and share one number: the rows overlap in memory.
template <class T>
class PairLines {
 public:
  void resize(Index rows, Index width, bool is_diagonal) {
    stride_ = is_diagonal ? -1 : width;
    first_ = is_diagonal ? rows - 1 : 0;
    numbers_.resize(static_cast<std::size_t>(is_diagonal ? rows + width - 1 : rows * width));
  }
  T* row(Index r) { return numbers_.data() + first_ + r * stride_; }
  const T* row(Index r) const { return numbers_.data() + first_ + r * stride_; }
  std::vector<T>& numbers() { return numbers_; }
  const std::vector<T>& numbers() const { return numbers_; }

 private:
  std::vector<T> numbers_;
  Index stride_ = 0, first_ = 0;
};

// Offsets of a tile's pairs.
class TileOffsets {
 public:
  void set(const Prepared& prepared, const Tile& tile);

  // Bucket of each pair.
  const PairLines<std::int32_t>& buckets(const OffsetIndex& index);
  std::int32_t min_bucket() const { return min_bucket_; }  // minimum of the last buckets()
  Index bucket_count() const { return max_bucket_ - min_bucket_ + 1; }
  // Table entry of each pair, by its bucket.
  const PairLines<float>& numbers(const Prepared::Table& table, Index pair);
  const PairLines<std::int32_t>& offsets();

 private:
  const Prepared* prepared_ = nullptr;
  Tile tile_;
  bool has_offsets_ = false;  // offsets_ are computed on demand
  Index rows_ = 0, width_ = 0;
  bool is_diagonal_ = false;
  PairLines<std::int32_t> offsets_, buckets_;
  PairLines<float> numbers_;
  std::int32_t min_bucket_ = 0, max_bucket_ = 0;
};

}  // namespace attnscope::cpu
