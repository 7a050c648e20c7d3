// Key columns of a block of rows, divided into tiles, and the allowed pairs of each tile.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/attention/cpu/prepared.h"
#include "core/part/arrangement.h"

namespace attnscope::cpu {

struct Extent {  // range [begin, end) of a tile's columns
  Index begin = 0, end = 0;
  bool operator==(const Extent&) const = default;
};

// Rectangle of scores of one head: a row per query, a column per key in ascending order. Cells
// outside the extents are neither computed nor read.
struct Tile {
  Index pair = 0, head = 0;  // pair = batch entry * heads + head
  Index row = 0, rows = 0;
  const std::int32_t* queries = nullptr;  // [rows]; null: row, row + 1, ...
  const std::int32_t* columns = nullptr;  // [width]
  Index width = 0;
  Index first = 0;  // index of columns[0] among the block's columns
  std::array<Extent, block_rows / group_rows> extents;  // one per group of rows, within [0, width)
  Index query(Index r) const { return queries == nullptr ? row + r : queries[r]; }
  bool is_contiguous() const { return columns[width - 1] - columns[0] == width - 1; }
  Index groups() const { return (rows + group_rows - 1) / group_rows; }
  const Extent& extent(Index r) const { return extents[static_cast<std::size_t>(r / group_rows)]; }
};

// Calls f(r, x) for all cells within the extents.
template <class F>
void each_pair(const Tile& tile, F f) {
  for (Index r = 0; r < tile.rows; ++r) {
    const Extent extent = tile.extent(r);
    for (Index x = extent.begin; x < extent.end; ++x) f(r, x);
  }
}
// Calls f(extent, first row, rows) for consecutive groups of rows of equal extent.
template <class F>
void each_band(const Tile& tile, F f) {
  for (Index g = 0; g < tile.groups();) {
    const Extent& extent = tile.extents[static_cast<std::size_t>(g)];
    Index next = g + 1;
    while (next < tile.groups() && tile.extents[static_cast<std::size_t>(next)] == extent) ++next;
    const Index end = std::min(next * group_rows, tile.rows);
    if (extent.begin < extent.end) f(extent, g * group_rows, end - g * group_rows);
    g = next;
  }
}
// Calls f(first column, columns, first row, rows) for rectangles that cover all cells within the
// extents. Rectangles end at borders of packed key panels. A contiguous tile uses panels of all
// keys of the head; any other tile uses panels of its own keys.
template <class F>
void each_panel(const Tile& tile, F f) {
  const Index origin = tile.is_contiguous() ? tile.columns[0] : 0;
  const auto end_of_panel = [&](Index x) {
    return std::min(tile.width, x + panel_width - (origin + x) % panel_width);
  };
  const auto rows_of = [&](Extent columns) {
    Extent rows{tile.rows, 0};
    for (Index g = 0; g < tile.groups(); ++g) {
      const Extent& extent = tile.extents[static_cast<std::size_t>(g)];
      if (extent.begin >= columns.end || columns.begin >= extent.end) continue;
      rows.begin = std::min(rows.begin, g * group_rows);
      rows.end = std::min((g + 1) * group_rows, tile.rows);
    }
    return rows;
  };
  for (Index x = 0; x < tile.width;) {
    Index end = end_of_panel(x);
    const Extent rows = rows_of({x, end});
    while (end < tile.width && rows_of({end, end_of_panel(end)}) == rows) end = end_of_panel(end);
    if (rows.begin < rows.end) f(x, end - x, rows.begin, rows.end - rows.begin);
    x = end;
  }
}

// Writes `value` to the cells of s [rows, width] outside the tile's extents.
void fill_outside(const Tile& tile, float* s, Index s_stride, float value);

// Columns and allowed pairs of a block of rows.
class RowColumns {
 public:
  virtual ~RowColumns() = default;

  Index count() const { return count_; }
  const std::int32_t* columns() const { return column_data_; }  // [count()]
  Tile tile(Index first) const;  // begins at columns()[first], has at most tile_columns columns
  // Extent of row r among the columns, in [0, count()).
  const Extent& extent(Index r) const { return extents_[static_cast<std::size_t>(r / group_rows)]; }
  // First key if the columns are consecutive keys, else -1.
  Index first_of_interval() const { return is_interval_ && count() > 0 ? column_data_[0] : -1; }
  // Writes `value` to the cells of s [rows, width] within the tile's extents that are not allowed.
  virtual void hide(const Tile& tile, float* s, Index s_stride, float value) = 0;

 protected:
  Index pair_ = 0, head_ = 0, row_ = 0, rows_ = 0;
  const std::int32_t* queries_ = nullptr;  // [rows_], see Tile
  const std::int32_t* column_data_ = nullptr;
  Index count_ = 0;
  bool is_interval_ = false;  // the columns have no gaps
  std::array<Extent, block_rows / group_rows> extents_;
};

// Columns of consecutive rows: the union of their sets S_i, computed on demand.
class BlockColumns : public RowColumns {
 public:
  explicit BlockColumns(const Prepared& prepared)
      : prepared_(prepared), last_column_(prepared.keys) {}

  // Selects up to `max_rows` rows from `row` on that share enough columns for a rectangle, and
  // returns their number. The search restarts at multiples of block_rows, so that the division of a
  // block into rectangles does not depend on earlier blocks.
  Index choose(Index pair, Index row, Index max_rows);

  // Restricts the columns to [begin, end).
  void restrict_to(Index begin, Index end) {
    first_column_ = begin;
    last_column_ = end;
  }
  void hide(const Tile& tile, float* s, Index s_stride, float value) override;

 private:
  bool try_rectangle(Index rows);
  void find_extents();
  void hide_runs(const Tile& tile, Index r, float* line, float value) const;
  void hide_marked(const Tile& tile, Index r, float* line, float value);

  const Prepared& prepared_;
  Index first_column_ = 0, last_column_;
  Index single_rows_ = 0;      // single rows since the last attempt at a rectangle
  Index max_single_rows_ = 0;  // single rows before the next attempt
  bool all_allowed_ = false;   // all pairs of the block are allowed
  std::vector<std::pair<std::int32_t, std::int32_t>> intervals_;
  std::vector<std::int32_t> columns_;
  std::vector<std::int32_t> column_index_;  // [L_k]: index of a key in columns_
  std::vector<std::uint8_t> marked_;
};

// Columns of a block of an arrangement, or of one of its lone rows.
class ArrangedColumns : public RowColumns {
 public:
  explicit ArrangedColumns(const Prepared& prepared) : prepared_(prepared) {}
  void set(Index pair, const Arrangement::Head& head, const Arrangement::Block& block);
  void set(Index pair, const Arrangement::Head& head, const Arrangement::LoneRow& row);
  void hide(const Tile& tile, float* s, Index s_stride, float value) override;
  bool is_first(Index r) const { return (visits_[r] & Arrangement::first_visit) != 0; }
  bool is_last(Index r) const { return (visits_[r] & Arrangement::last_visit) != 0; }

 private:
  void set_rows(Index pair, const std::int32_t* queries, Index rows);
  void set_columns(const std::int32_t* columns, Index count);

  const Prepared& prepared_;
  const std::uint64_t* mask_words_ = nullptr;  // a bit per pair of the block; null: all allowed
  Index mask_words_per_row_ = 0;
  const std::uint8_t* visits_ = nullptr;  // [rows_]
  std::uint8_t lone_visit_ = 0;
};

}  // namespace attnscope::cpu
