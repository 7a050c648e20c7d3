// Which columns a block of rows touches, and which pairs of a tile are allowed.
#pragma once

#include <vector>

#include "core/attention/cpu/prepared.h"

namespace attnscope::cpu {

// A rectangle of scores: consecutive queries of one head, and some keys in ascending order.
struct Tile {
  Index pair = 0, head = 0;  // pair = batch entry * heads + head
  Index row = 0, rows = 0;
  const std::int32_t* columns = nullptr;  // [width]
  Index width = 0;
  Index first = 0;  // of `columns` among the block's columns
  bool contiguous() const { return columns[width - 1] - columns[0] == width - 1; }
};

// The columns that a block of rows touches: the union of its rows' sets.
class BlockColumns {
 public:
  explicit BlockColumns(const Prepared& prepared) : prepared_(prepared) {}

  // Takes at most `most` rows from `row` on: as many as share enough of their columns for a
  // rectangle to be worth its empty cells. Returns how many.
  Index choose(Index pair, Index row, Index most);

  // Takes a given rectangle instead.
  void set(Index pair, Index row, Index rows, Index column, Index width);

  Index count() const { return static_cast<Index>(columns_.size()); }
  const std::vector<std::int32_t>& columns() const { return columns_; }
  Tile tile(Index first) const;  // of at most tile_columns columns
  // Writes `value` to the pairs of the tile that are not allowed.  s: [rows, width]
  void hide(const Tile& tile, float* s, Index s_row, float value);

 private:
  bool unite(Index rows);
  void hide_runs(const Tile& tile, Index r, float* line, float value) const;
  void hide_marked(const Tile& tile, Index r, float* line, float value);

  const Prepared& prepared_;
  Index pair_ = 0, row_ = 0, rows_ = 0;
  bool full_ = false;          // all pairs of the block are allowed
  bool one_interval_ = false;  // columns_ has no gaps
  std::vector<std::pair<std::int32_t, std::int32_t>> intervals_;
  std::vector<std::int32_t> columns_;
  std::vector<std::int32_t> place_;  // [L_k]: where a column is in columns_
  std::vector<std::uint8_t> marked_;
};

}  // namespace attnscope::cpu
