// A pattern as the compute shaders take it: tiles of rows that share their keys, after its
// arrangement (core/part/arrangement.h), and the chunks in which they are computed.
//
// A tile has up to eight rows of queries, or one whose keys nobody shares, and the list of their
// keys; a cell is one of its pairs, allowed or not. Memory and time follow the number of allowed
// pairs, never L².
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/stop.h"
#include "core/part/pattern.h"

namespace attnscope {

class TileLayout {
 public:
  static constexpr Index tile = 8;  // rows of a tile at most; cells are computed as many at a time

  struct Tile {
    std::int32_t columns, width;  // where in columns() its keys begin, and how many there are
    std::int32_t head;            // of the pattern
    std::int32_t rows, row;       // how many, and the first of them in rows()
    std::int64_t base;            // cells before it
    std::int64_t stride() const { return (width + tile - 1) / tile * tile; }  // cells of a row
  };
  struct Row {
    std::int32_t query;
    std::int32_t begin, end;  // allowed cells are among these,
    std::int32_t words;       // all of them where -1; else where in words() their bits begin
    std::int32_t turns;       // Arrangement::first_turn, last_turn: a query may be in several lists
  };
  // Tiles that have no query in common; the lists of a query come in this order.
  struct List {
    Index height;        // rows that every tile has room for: `tile`, or 1
    Index first, count;  // tiles
  };

  TileLayout(const Pattern& pattern, const Stop& stop);  // throws Stopped

  Index heads() const { return heads_; }  // of the pattern
  const std::vector<List>& lists() const { return lists_; }
  const std::vector<Tile>& tiles() const { return tiles_; }
  // Each tile's are followed by copies of the last one, without cells, up to the list's height.
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<std::int32_t>& columns() const { return columns_; }  // 0, 1, ..., then others
  const std::vector<std::uint32_t>& words() const { return words_; }     // from each row's cell 0
  bool has_several_turns() const { return several_turns_; }

  bool allows(const Row& row, Index cell) const;
  std::int64_t cells(const Tile& t, const List& list) const { return list.height * t.stride(); }
  std::int64_t cells(const List& list) const;

 private:
  class Maker;

  Index heads_;
  std::vector<List> lists_;
  std::vector<Tile> tiles_;
  std::vector<Row> rows_;
  std::vector<std::int32_t> columns_;
  std::vector<std::uint32_t> words_;
  bool several_turns_ = false;
};

// Tiles are computed for copies: of all B h heads where these share their rows of the pattern, else
// of the batch. A chunk is a list for some copies, or a part of one for one copy.
struct Chunk {
  std::size_t list = 0;
  Index copy = 0, copies = 0;
  Index tile = 0, tiles = 0;
  std::int64_t cells = 0;  // of a copy
  Index widest = 0;        // stride of a tile
};
struct Place {  // where the next chunk begins
  std::size_t list = 0;
  Index copy = 0, tile = 0;
};

// The chunk at `place`, which moves on, with at most `most` cells (but at least one tile). `place`
// is in a list that there is.
Chunk next_chunk(const TileLayout& layout, Index copies, std::int64_t most, Place& place);

}  // namespace attnscope
