// How the scores of a pattern's pairs lie in the scratch buffer of the compute shaders, and in
// which pieces they are computed. See shaders/attention.glsl for the two layouts.
#pragma once

#include <cstdint>
#include <vector>

#include "core/part/pattern.h"

namespace attnscope {

// Runs of a row without their rules: neighbours that differ only in who admits them are one.
struct BareRun {
  std::int32_t begin, end, step;
};

class PatternLayout {
 public:
  static constexpr Index tile = 8;      // rows and columns of a tile
  static constexpr Index segment = 64;  // pairs of a segment

  explicit PatternLayout(const Pattern& pattern);

  // Whether every row's keys are one interval, so that tiles of 8 x 8 pairs waste little.
  bool tiles() const { return tiles_; }
  Index pattern_heads() const { return heads_; }
  Index queries() const { return queries_; }
  Index keys() const { return keys_; }
  const std::vector<BareRun>& runs() const { return runs_; }
  const std::vector<std::int32_t>& starts() const { return starts_; }  // [heads * L_q + 1]
  // Scores before each tile of rows (each row); the last entry: all of them.
  const std::vector<std::int64_t>& offsets() const { return offsets_; }
  struct Columns {
    std::int32_t first, width;
  };
  const std::vector<Columns>& tile_columns() const { return tile_columns_; }  // with tiles()
  struct Segment {
    std::int32_t row, run, skip;
    std::uint32_t at;  // of its first score, modulo 2^32
  };
  const std::vector<Segment>& segments() const { return segments_; }  // without tiles()
  const std::vector<std::int32_t>& segment_starts() const { return segment_starts_; }

  std::int64_t scores() const { return offsets_.back(); }  // of all pattern heads
  std::int64_t most_scores_of_a_step() const;  // of one row, or tile of rows: the smallest piece
  // Where in offsets() row i of pattern head a begins; i may be L_q, a must not be pattern_heads().
  std::size_t offset_index(Index a, Index i) const;
  Index row_step() const { return tiles_ ? tile : 1; }

 private:
  void lay_tiles();
  void lay_rows();

  bool tiles_ = true;
  Index heads_, queries_, keys_;
  std::vector<BareRun> runs_;
  std::vector<std::int32_t> starts_;
  std::vector<std::int64_t> offsets_;
  std::vector<Columns> tile_columns_;
  std::vector<Segment> segments_;
  std::vector<std::int32_t> segment_starts_;  // [heads * L_q + 1]
};

// A piece of an operation: all rows of some heads, or some rows of one head.
struct Chunk {
  Index head = 0, heads = 0;  // of the B h
  Index row = 0, rows = 0;
  std::int64_t origin = 0;  // scores before it, of its pattern head
  std::int64_t scores = 0;  // how many it has
};

// The chunk that begins at (head, row), with at most `most_scores` scores (but at least one step)
// and never across a batch entry's end where heads have patterns of their own.
Chunk next_chunk(const PatternLayout& layout, Index batch, Index heads, Index head, Index row,
                 std::int64_t most_scores);

}  // namespace attnscope
