#include "core/attention/cpu/columns.h"

#include <algorithm>
#include <numeric>

namespace attnscope::cpu {

namespace {

// A rectangle is worth computing from this share of allowed pairs on.
constexpr double least_fill = 0.3;
// Fewer rows than this are not worth a rectangle: they go one by one.
constexpr Index least_rows = 8;

}  // namespace

Index BlockColumns::choose(Index pair, Index row, Index most) {
  pair_ = pair;
  row_ = row;
  for (Index rows = most;; rows = rows >= 2 * least_rows ? rows / 2 : 1) {
    if (unite(rows)) return rows_ = rows;
  }
}

void BlockColumns::set(Index pair, Index row, Index rows, Index column, Index width) {
  pair_ = pair;
  row_ = row;
  rows_ = rows;
  full_ = false;
  one_interval_ = true;
  columns_.resize(static_cast<std::size_t>(width));
  std::iota(columns_.begin(), columns_.end(), static_cast<std::int32_t>(column));
}

// Whether `rows` rows make a rectangle; fills in columns_ when they do.
bool BlockColumns::unite(Index rows) {
  const Pattern& pattern = *prepared_.part.pattern;
  const Index head = pair_ % prepared_.heads;
  intervals_.clear();
  Index allowed = 0;
  for (Index r = 0; r < rows; ++r) {
    for (const Run& run : pattern.row(head, row_ + r)) {
      allowed += run.count();
      if (run.step == 1) {
        intervals_.emplace_back(run.begin, run.end);
      } else {
        for (std::int32_t c = run.begin; c < run.end; c += run.step) {
          intervals_.emplace_back(c, c + 1);
        }
      }
    }
  }
  std::sort(intervals_.begin(), intervals_.end());
  std::size_t last = 0;  // intervals_[0 .. last] are disjoint
  Index width = 0;
  for (std::size_t n = 1; n < intervals_.size(); ++n) {
    if (intervals_[n].first <= intervals_[last].second) {
      intervals_[last].second = std::max(intervals_[last].second, intervals_[n].second);
    } else {
      intervals_[++last] = intervals_[n];
    }
  }
  intervals_.resize(std::min(intervals_.size(), last + 1));
  for (const auto& [begin, end] : intervals_) width += end - begin;
  if (rows > 1 && static_cast<double>(allowed) <
                      least_fill * static_cast<double>(rows) * static_cast<double>(width)) {
    return false;
  }
  columns_.resize(static_cast<std::size_t>(width));
  auto to = columns_.begin();
  for (const auto& [begin, end] : intervals_) {
    std::iota(to, to + (end - begin), begin);
    to += end - begin;
  }
  full_ = allowed == rows * width;
  one_interval_ = intervals_.size() <= 1;
  if (!one_interval_ && !full_) {
    place_.resize(static_cast<std::size_t>(prepared_.keys));
    for (std::size_t x = 0; x < columns_.size(); ++x) {
      place_[static_cast<std::size_t>(columns_[x])] = static_cast<std::int32_t>(x);
    }
  }
  return true;
}

// Tiles end where panels of packed keys end, so that contiguous ones need no second panel.
Tile BlockColumns::tile(Index first) const {
  const std::int32_t* begin = columns_.data() + first;
  Index width =
      std::min(tile_columns - (one_interval_ ? *begin % panel_width : 0), count() - first);
  return {pair_, pair_ % prepared_.heads, row_, rows_, begin, width, first};
}

void BlockColumns::hide(const Tile& tile, float* s, Index s_row, float value) {
  if (full_) return;
  for (Index r = 0; r < tile.rows; ++r) {
    bool stepped = false;
    for (const Run& run : prepared_.part.pattern->row(tile.head, tile.row + r)) {
      stepped |= run.step != 1;
    }
    if (one_interval_ && !stepped) {
      hide_runs(tile, r, s + r * s_row, value);
    } else {
      hide_marked(tile, r, s + r * s_row, value);
    }
  }
}

// The gaps between runs of consecutive columns.
void BlockColumns::hide_runs(const Tile& tile, Index r, float* line, float value) const {
  const Index origin = tile.columns[0];
  Index done = 0;
  for (const Run& run : prepared_.part.pattern->row(tile.head, tile.row + r)) {
    if (run.begin - origin >= tile.width) break;
    const Index begin = std::max<Index>(run.begin - origin, done);
    std::fill(line + done, line + begin, value);
    done = std::max(done, std::min<Index>(run.end - origin, tile.width));
  }
  std::fill(line + done, line + tile.width, value);
}

void BlockColumns::hide_marked(const Tile& tile, Index r, float* line, float value) {
  marked_.assign(static_cast<std::size_t>(tile.width), 0);
  const std::int32_t least = tile.columns[0], most = tile.columns[tile.width - 1];
  const Index origin = columns_[0];
  for (const Run& run : prepared_.part.pattern->row(tile.head, tile.row + r)) {
    if (run.begin > most) break;
    std::int32_t c = run.begin;
    if (c < least) c += (least - c + run.step - 1) / run.step * run.step;
    for (; c < run.end && c <= most; c += run.step) {
      const Index x = one_interval_ ? c - origin : place_[static_cast<std::size_t>(c)];
      marked_[static_cast<std::size_t>(x - tile.first)] = 1;
    }
  }
  for (Index x = 0; x < tile.width; ++x) {
    if (!marked_[static_cast<std::size_t>(x)]) line[x] = value;
  }
}

}  // namespace attnscope::cpu
