// Tile layout: a pattern as input of the compute shaders. A tile is a group of rows that share
// their keys, as in the pattern's arrangement (core/part/arrangement.h). A dispatch computes a
// chunk of tiles.
//
// A tile consists of up to eight query rows and the list of their keys. A row that shares its keys
// with no other row is alone in its tile. A cell is a pair of a row and a key of the tile, allowed
// or not. Memory and time grow with the number of allowed pairs, never with L².
#pragma once

#include <cstdint>
#include <vector>

#include "core/part/pattern.h"

namespace attnscope {

class TileLayout {
 public:
  static constexpr Index tile = 8;  // maximum rows per tile, and cells per invocation

  struct Tile {
    std::int32_t columns, width;  // start of the tile's keys in columns(), and their number
    std::int32_t head;            // head of the pattern
    std::int32_t rows, row;       // number of rows, and start in rows()
    std::int64_t base;            // number of cells in earlier tiles
    std::int64_t stride() const { return (width + tile - 1) / tile * tile; }  // padded width
  };
  struct Row {
    std::int32_t query;
    std::int32_t begin, end;  // range that contains the allowed cells
    std::int32_t words;       // start of the row's bits in words(); -1: the whole range is allowed
    std::int32_t visits;      // Arrangement::first_visit | last_visit, for queries in several lists
  };
  // Tiles that have no query in common. Lists with a common query are processed in order.
  struct List {
    Index height;        // rows per tile: `tile` or 1
    Index first, count;  // tiles
  };

  TileLayout(const Pattern& pattern);  // throws Stopped

  Index heads() const { return heads_; }  // heads of the pattern
  const std::vector<List>& lists() const { return lists_; }
  const std::vector<Tile>& tiles() const { return tiles_; }
  // Rows of all tiles. Copies of the last row, without cells, pad each tile to List::height rows.
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<std::int32_t>& columns() const { return columns_; }  // begins with 0, 1, ..
  const std::vector<std::uint32_t>& words() const { return words_; }  // one bit per cell of a row
  bool has_several_visits() const { return has_several_visits_; }

  bool allows(const Row& row, Index cell) const;
  std::int64_t cells(const Tile& t, const List& list) const { return list.height * t.stride(); }
  std::int64_t cells(const List& list) const;

 private:
  class Builder;

  Index heads_;
  std::vector<List> lists_;
  std::vector<Tile> tiles_;
  std::vector<Row> rows_;
  std::vector<std::int32_t> columns_;
  std::vector<std::uint32_t> words_;
  bool has_several_visits_ = false;
};

// Part of a layout that one dispatch computes: a whole list for one or more copies, or some tiles
// of a list for one copy. A copy is one computation of the layout. There are B h copies if all
// heads share the pattern, otherwise B.
struct Chunk {
  std::size_t list = 0;
  Index copy = 0, copies = 0;  // first copy and number of copies
  Index tile = 0, tiles = 0;   // first tile, as an index in the list, and number of tiles
  std::int64_t cells = 0;      // cells per copy
  Index widest = 0;            // maximum stride of the chunk's tiles
};
struct ChunkStart {
  std::size_t list = 0;
  Index copy = 0, tile = 0;
};

// Returns the chunk at `start` and advances `start`, which must be valid. The chunk has at least
// one tile; a chunk of several tiles has at most `max_cells` cells.
Chunk next_chunk(const TileLayout& layout, Index copies, std::int64_t max_cells, ChunkStart& start);

}  // namespace attnscope
