// An order of a pattern's rows in which those that share keys stand together.
//
// Kernels compute rectangles of queries and keys: panels of keys are read once for many rows. As a
// pattern lists them, neighbours may share little: rows of a strided pattern share their keys with
// every l-th row, those of hashed or routed ones with their bucket or cluster. Here each row's keys
// are divided into pieces by the rule that admits them, and into runs of neighbours and lone keys;
// pieces that begin with the same key are put together. Rows whose keys nobody shares are alone.
//
// Made once per pattern (Pattern::arrangement()), in time that follows the number of allowed pairs.
// Every pair of a row that is not in order belongs to exactly one block or to one row alone.
#pragma once

#include <span>

#include "core/base/stop.h"
#include "core/part/pattern.h"

namespace attnscope {

struct Arrangement {
  static constexpr Index block_rows = 64;  // at most, of a block
  static constexpr Index group_rows = 8;   // of a block that have an extent in common

  struct Extent {
    std::int32_t begin = 0, end = 0;
  };
  // Queries and keys of which most pairs are allowed. The members say where its numbers begin.
  struct Block {
    std::int32_t rows = 0, width = 0;
    std::size_t queries = 0;  // [rows]
    std::size_t columns = 0;  // [width], ascending
    // Of each group of rows, in [0, width): pairs outside are not allowed.
    std::size_t extents = 0;
    std::int64_t words = -1;  // allowed pairs as bits, [rows, ceil(width / 64)]; -1: all are
  };
  struct Alone {  // what a query sees in no block
    std::int32_t query = 0, width = 0;
    std::size_t columns = 0;  // [width], ascending
    bool first = false;       // in no block either
  };
  // A query may be in several layers; these say which of its turns a block is.
  static constexpr std::uint8_t first_turn = 1, last_turn = 2;

  struct Head {
    // Of each block_rows queries that follow each other: whether their rows stay as they are, one
    // run or few, much the same for all.
    std::vector<std::uint8_t> in_order;
    // Of the others, those that see no key; the rest are in blocks, or alone, which comes last.
    std::vector<std::int32_t> empty;
    // Blocks of a layer have no queries in common.
    std::vector<std::vector<Block>> layers;
    std::vector<Alone> alone;  // each query once

    StorageVector<std::int32_t> queries, columns;
    std::vector<std::uint8_t> turns;  // of each of `queries`
    std::vector<Extent> extents;
    StorageVector<std::uint64_t> words;

    bool stays(Index block) const { return in_order[static_cast<std::size_t>(block)] != 0; }
    std::span<const Block> layer(std::size_t n) const {  // empty where others have more layers
      return n < layers.size() ? std::span<const Block>(layers[n]) : std::span<const Block>();
    }
  };
  std::vector<Head> heads;  // one where heads share their rows

  const Head& of(Index head) const {
    return heads[heads.size() == 1 ? 0 : static_cast<std::size_t>(head)];
  }
  std::size_t layers() const;  // the most of a head
  bool all_in_order() const;
  // Whether rows in order, or the columns of a block, are intervals of keys.
  bool has_intervals() const;
};

Arrangement arrange(const Pattern& pattern, const Stop& stop);  // throws Stopped

}  // namespace attnscope
