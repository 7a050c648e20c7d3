// Arrangement: a reordering of a pattern's rows that groups rows with common keys.
//
// Kernels compute rectangles of queries and keys, so that one panel of keys serves many rows. In
// the pattern's order, neighbouring rows may share few keys. A row of a strided pattern shares keys
// with every stride-th row, a row of a hashed or routed pattern with its bucket or cluster.
//
// 64 consecutive rows keep the pattern's order if their runs of keys are few, similar and
// contiguous (Head::in_order). For all other rows, arrange() first plans blocks of whole rows. Rows
// that form no dense rectangle may be divided into pieces, if blocks of pieces cost less. A piece
// has a row's keys of one rule and one kind of run (long contiguous, or other). Pieces are sorted
// by first column. Consecutive pieces with many common columns form a block; other pieces become
// lone rows, one per query. Each allowed pair of these rows belongs to exactly one block or lone
// row.
//
// Pattern::arrangement() computes the arrangement once, in time proportional to the number of
// allowed pairs.
#pragma once

#include <span>

#include "core/part/pattern.h"

namespace attnscope {

struct Arrangement {
  static constexpr Index block_rows = 64;  // maximum number of rows of a block
  static constexpr Index group_rows = 8;   // rows of a block that share an extent

  struct Extent {
    std::int32_t begin = 0, end = 0;
  };
  // Rectangle of queries and keys with mostly allowed pairs. `queries`, `columns`, `extents` and
  // `words` are offsets into the arrays of these names in Head.
  struct Block {
    std::int32_t rows = 0, width = 0;
    std::size_t queries = 0;  // [rows]
    std::size_t columns = 0;  // [width], ascending
    std::size_t extents = 0;  // [row groups]: columns that contain the group's pairs
    std::int64_t words = -1;  // bit mask [rows, ceil(width / 64)]; -1: all pairs allowed
  };
  struct LoneRow {  // keys of a query that are in no block
    std::int32_t query = 0, width = 0;
    std::size_t columns = 0;  // [width], ascending
    bool first = false;       // true if no block contains the query: its first visit
  };
  // A query may occur in blocks of several layers. These flags mark its first and its last block.
  static constexpr std::uint8_t first_visit = 1, last_visit = 2;

  struct Head {
    // For every block_rows consecutive queries: nonzero if they keep the pattern's order, because
    // their runs of keys are few, similar and contiguous.
    std::vector<std::uint8_t> in_order;
    // Reordered queries without keys. All other reordered queries are in blocks or lone rows.
    std::vector<std::int32_t> empty;
    // Blocks of one layer share no query.
    std::vector<std::vector<Block>> layers;
    std::vector<LoneRow> lone_rows;  // each query at most once; computed after the blocks

    StorageVector<std::int32_t> queries, columns;
    std::vector<std::uint8_t> visits;  // visit flags, one per entry of `queries`
    std::vector<Extent> extents;
    StorageVector<std::uint64_t> words;

    bool is_in_order(Index row_block) const {
      return in_order[static_cast<std::size_t>(row_block)] != 0;
    }
    std::span<const Block> layer(std::size_t n) const {  // empty beyond the head's last layer
      return n < layers.size() ? std::span<const Block>(layers[n]) : std::span<const Block>();
    }
  };
  std::vector<Head> heads;  // a single entry if all heads share their rows

  const Head& of(Index head) const {
    return heads[heads.size() == 1 ? 0 : static_cast<std::size_t>(head)];
  }
  std::size_t layers() const;  // maximum number of layers over heads
  bool all_in_order() const;
  // True if some rows keep the pattern's order, or some block has consecutive keys as columns.
  bool has_intervals() const;
};

Arrangement arrange(const Pattern& pattern);  // throws Stopped

}  // namespace attnscope
