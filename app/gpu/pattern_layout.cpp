#include "app/gpu/pattern_layout.h"

#include <algorithm>

namespace attnscope {
namespace {

// What OpenGL promises for the number of work groups in a dimension; rows and heads stay below.
constexpr Index kMostGroups = 65535;

}  // namespace

PatternLayout::PatternLayout(const Pattern& pattern)
    : heads_(pattern.heads()), queries_(pattern.queries()), keys_(pattern.keys()) {
  starts_.reserve(static_cast<std::size_t>(heads_ * queries_ + 1));
  starts_.push_back(0);
  for (Index a = 0; a < heads_; ++a) {
    for (Index i = 0; i < queries_; ++i) {
      const std::size_t row_begin = runs_.size();
      for (const Run& run : pattern.row(a, i)) {
        if (runs_.size() > row_begin && run.step == 1 && runs_.back().step == 1 &&
            runs_.back().end == run.begin) {
          runs_.back().end = run.end;
        } else {
          runs_.push_back({run.begin, run.end, run.step});
        }
      }
      const std::size_t count = runs_.size() - row_begin;
      tiles_ = tiles_ && (count == 0 || (count == 1 && runs_.back().step == 1));
      starts_.push_back(static_cast<std::int32_t>(runs_.size()));
    }
  }
  if (tiles_) {
    lay_tiles();
  } else {
    lay_rows();
  }
}

void PatternLayout::lay_tiles() {
  offsets_.push_back(0);
  for (Index a = 0; a < heads_; ++a) {
    for (Index i0 = 0; i0 < queries_; i0 += tile) {
      std::int32_t first = static_cast<std::int32_t>(keys_), end = 0;
      for (Index i = i0; i < std::min(i0 + tile, queries_); ++i) {
        const auto row = static_cast<std::size_t>(a * queries_ + i);
        for (auto r = starts_[row]; r < starts_[row + 1]; ++r) {
          first = std::min(first, runs_[static_cast<std::size_t>(r)].begin);
          end = std::max(end, runs_[static_cast<std::size_t>(r)].end);
        }
      }
      const auto step = static_cast<std::int32_t>(tile);
      first = std::min(first, end) / step * step;
      const std::int32_t width = (end - first + step - 1) / step * step;
      tile_columns_.push_back({first, width});
      offsets_.push_back(offsets_.back() + tile * width);
    }
  }
}

void PatternLayout::lay_rows() {
  offsets_.push_back(0);
  segment_starts_.push_back(0);
  for (Index row = 0; row < heads_ * queries_; ++row) {
    std::int64_t at = offsets_.back();
    Index filled = segment;  // pairs in the row's last segment; full: the next pair begins one
    for (auto r = starts_[static_cast<std::size_t>(row)];
         r < starts_[static_cast<std::size_t>(row) + 1]; ++r) {
      const BareRun& run = runs_[static_cast<std::size_t>(r)];
      const Index count = (run.end - run.begin + run.step - 1) / run.step;
      for (Index n = 0; n < count;) {
        if (filled == segment) {
          segments_.push_back({static_cast<std::int32_t>(row), r, static_cast<std::int32_t>(n),
                               static_cast<std::uint32_t>(at + n)});
          filled = 0;
        }
        const Index taken = std::min(segment - filled, count - n);
        filled += taken;
        n += taken;
      }
      at += count;
    }
    offsets_.push_back(at);
    segment_starts_.push_back(static_cast<std::int32_t>(segments_.size()));
  }
}

std::int64_t PatternLayout::most_scores_of_a_step() const {
  std::int64_t most = 0;
  for (std::size_t n = 1; n < offsets_.size(); ++n) {
    most = std::max(most, offsets_[n] - offsets_[n - 1]);
  }
  return most;
}

std::size_t PatternLayout::offset_index(Index a, Index i) const {
  if (!tiles_) return static_cast<std::size_t>(a * queries_ + i);
  const Index tiles_of_a_head = (queries_ + tile - 1) / tile;
  return static_cast<std::size_t>(a * tiles_of_a_head + (i + tile - 1) / tile);
}

Chunk next_chunk(const PatternLayout& layout, Index batch, Index heads, Index head, Index row,
                 std::int64_t most_scores) {
  const Index queries = layout.queries(), all = batch * heads;
  const bool shared = layout.pattern_heads() == 1;
  const auto& offsets = layout.offsets();
  const auto before = [&](Index a, Index i) { return offsets[layout.offset_index(a, i)]; };
  const auto pattern_head = [&](Index h) { return shared ? 0 : h % heads; };

  Chunk chunk;
  chunk.head = head;
  chunk.row = row;
  chunk.heads = 1;
  const Index a = pattern_head(head);
  chunk.origin = before(a, row);
  chunk.scores = before(a, queries) - chunk.origin;
  chunk.rows = queries - row;
  if (row > 0 || chunk.scores > most_scores) {
    const Index step = layout.row_step();
    chunk.rows = 0;
    while (row + chunk.rows < queries && chunk.rows < kMostGroups) {
      const Index rows = std::min(chunk.rows + step, queries - row);
      const std::int64_t scores = before(a, row + rows) - chunk.origin;
      if (chunk.rows > 0 && scores > most_scores) break;
      chunk.rows = rows;
      chunk.scores = scores;
    }
    return chunk;
  }
  const Index last = shared ? all : (head / heads + 1) * heads;
  while (head + chunk.heads < last && chunk.heads < kMostGroups) {
    const Index next = pattern_head(head + chunk.heads);
    const std::int64_t more = before(next, queries) - before(next, 0);
    if (chunk.scores + more > most_scores) break;
    chunk.scores += more;
    ++chunk.heads;
  }
  return chunk;
}

}  // namespace attnscope
