#include "core/attention/cpu/columns.h"

#include <bit>
#include <numeric>

namespace attnscope::cpu {
namespace {

// Minimum fraction of allowed pairs in a rectangle.
constexpr double min_fill = 0.3;
// Minimum number of rows of a rectangle. Fewer rows are processed one by one.
constexpr Index min_rows = 8;

// Columns of a run within [begin, end).
Run clip(Run run, Index begin, Index end) {
  if (run.begin < begin) {
    const Index skipped = (begin - run.begin + run.step - 1) / run.step;
    run.begin = static_cast<std::int32_t>(std::min<Index>(run.begin + skipped * run.step, end));
  }
  run.end = static_cast<std::int32_t>(std::min<Index>(run.end, end));
  return run;
}

}  // namespace

void fill_outside(const Tile& tile, float* s, Index s_stride, float value) {
  for (Index r = 0; r < tile.rows; ++r) {
    const Extent extent = tile.extent(r);
    std::fill(s + r * s_stride, s + r * s_stride + extent.begin, value);
    std::fill(s + r * s_stride + extent.end, s + r * s_stride + tile.width, value);
  }
}

Index BlockColumns::choose(Index pair, Index row, Index max_rows) {
  // If rows form no rectangle, the next rows are unlikely to form one. Therefore attempts become
  // rarer after failures, and after a success rectangles grow step by step.
  const bool continues_block = pair == pair_ && row == row_ + rows_ && row % block_rows != 0;
  Index rows = max_rows;
  if (continues_block && rows_ == 1) {
    const bool retries = ++single_rows_ >= max_single_rows_;
    rows = retries ? std::min(max_rows, min_rows) : 1;
    if (retries) {
      single_rows_ = 0;
      max_single_rows_ *= 2;
    }
  } else if (continues_block) {
    rows = std::min(max_rows, 2 * rows_);
  } else {
    single_rows_ = 0;
    max_single_rows_ = min_rows;
  }
  pair_ = pair;
  head_ = pair % prepared_.heads;
  row_ = row;
  // Tests min_rows rows first, because this test is the fastest.
  if (rows > min_rows && !try_rectangle(min_rows)) rows = 1;
  while (!try_rectangle(rows)) rows = rows >= 2 * min_rows ? rows / 2 : 1;
  rows_ = rows;
  find_extents();
  return rows;
}

// Sets the extents of row groups, rounded to half panels so that most vector registers are full.
void BlockColumns::find_extents() {
  constexpr Index step = panel_width / 2;
  const Index groups = (rows_ + group_rows - 1) / group_rows;
  for (Index g = 0; g < groups; ++g) {
    Extent& extent = extents_[static_cast<std::size_t>(g)];
    extent = {0, count()};
    if (all_allowed_ || !is_interval_ || count() == 0) continue;
    Index begin = prepared_.keys, end = 0;
    for (Index r = g * group_rows; r < std::min((g + 1) * group_rows, rows_); ++r) {
      for (const Run& run : prepared_.part.pattern->row(pair_ % prepared_.heads, row_ + r)) {
        begin = std::min<Index>(begin, run.begin);
        end = std::max<Index>(end, run.end);
      }
    }
    begin = std::clamp<Index>(begin - columns_[0], 0, count());
    end = std::clamp<Index>(end - columns_[0], begin, count());
    extent = {begin / step * step, std::min((end + step - 1) / step * step, count())};
  }
}

// If `rows` rows share enough columns for a rectangle, sets columns_ and returns true.
bool BlockColumns::try_rectangle(Index rows) {
  const Pattern& pattern = *prepared_.part.pattern;
  const Index head = pair_ % prepared_.heads;
  intervals_.clear();
  Index allowed = 0;
  for (Index r = 0; r < rows; ++r) {
    for (const Run& full_run : pattern.row(head, row_ + r)) {
      const Run run = clip(full_run, first_column_, last_column_);
      if (run.begin >= run.end) continue;
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
  if (!std::is_sorted(intervals_.begin(), intervals_.end())) {
    std::sort(intervals_.begin(), intervals_.end());
  }
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
                      min_fill * static_cast<double>(rows) * static_cast<double>(width)) {
    return false;
  }
  columns_.resize(static_cast<std::size_t>(width));
  auto to = columns_.begin();
  for (const auto& [begin, end] : intervals_) {
    std::iota(to, to + (end - begin), begin);
    to += end - begin;
  }
  all_allowed_ = allowed == rows * width;
  is_interval_ = intervals_.size() <= 1;
  column_data_ = columns_.data();
  count_ = width;
  if (!is_interval_ && !all_allowed_) {
    column_index_.resize(static_cast<std::size_t>(prepared_.keys));
    for (std::size_t x = 0; x < columns_.size(); ++x) {
      column_index_[static_cast<std::size_t>(columns_[x])] = static_cast<std::int32_t>(x);
    }
  }
  return true;
}

// Contiguous tiles end where packed key panels end, so that no two tiles share a panel.
Tile RowColumns::tile(Index first) const {
  const std::int32_t* begin = column_data_ + first;
  const Index panel_offset = is_interval_ ? *begin % panel_width : 0;
  const Index width = std::min(tile_columns - panel_offset, count() - first);
  Tile tile{pair_, head_, row_, rows_, queries_, begin, width, first, {}};
  for (Index g = 0; g < tile.groups(); ++g) {
    const Extent& outer = extents_[static_cast<std::size_t>(g)];
    tile.extents[static_cast<std::size_t>(g)] = {std::clamp<Index>(outer.begin - first, 0, width),
                                                 std::clamp<Index>(outer.end - first, 0, width)};
  }
  return tile;
}

void BlockColumns::hide(const Tile& tile, float* s, Index s_stride, float value) {
  if (all_allowed_) return;
  for (Index r = 0; r < tile.rows; ++r) {
    bool has_steps = false;
    for (const Run& run : prepared_.part.pattern->row(tile.head, tile.row + r)) {
      has_steps |= run.step != 1;
    }
    if (is_interval_ && !has_steps) {
      hide_runs(tile, r, s + r * s_stride, value);
    } else {
      hide_marked(tile, r, s + r * s_stride, value);
    }
  }
}

// Writes `value` to the gaps between runs of consecutive columns.
void BlockColumns::hide_runs(const Tile& tile, Index r, float* line, float value) const {
  const Index origin = tile.columns[0];
  const Extent extent = tile.extent(r);
  Index next = extent.begin;
  for (const Run& run : prepared_.part.pattern->row(tile.head, tile.row + r)) {
    if (run.begin - origin >= extent.end) break;
    const Index begin = std::max<Index>(run.begin - origin, next);
    std::fill(line + next, line + begin, value);
    next = std::max(next, std::min<Index>(run.end - origin, extent.end));
  }
  std::fill(line + next, line + extent.end, value);
}

void BlockColumns::hide_marked(const Tile& tile, Index r, float* line, float value) {
  const Extent extent = tile.extent(r);
  if (extent.begin == extent.end) return;
  marked_.assign(static_cast<std::size_t>(tile.width), 0);
  const std::int32_t first = tile.columns[extent.begin], last = tile.columns[extent.end - 1];
  const Index origin = columns_[0];
  for (const Run& run : prepared_.part.pattern->row(tile.head, tile.row + r)) {
    if (run.begin > last) break;
    std::int32_t c = run.begin;
    if (c < first) c += (first - c + run.step - 1) / run.step * run.step;
    for (; c < run.end && c <= last; c += run.step) {
      const Index x = is_interval_ ? c - origin : column_index_[static_cast<std::size_t>(c)];
      marked_[static_cast<std::size_t>(x - tile.first)] = 1;
    }
  }
  for (Index x = extent.begin; x < extent.end; ++x) {
    if (!marked_[static_cast<std::size_t>(x)]) line[x] = value;
  }
}

void ArrangedColumns::set_rows(Index pair, const std::int32_t* queries, Index rows) {
  pair_ = pair;
  head_ = pair % prepared_.heads;
  row_ = queries[0];
  rows_ = rows;
  queries_ = queries[rows - 1] - queries[0] == rows - 1 && std::is_sorted(queries, queries + rows)
                 ? nullptr
                 : queries;
}

void ArrangedColumns::set(Index pair, const Arrangement::Head& head,
                          const Arrangement::Block& block) {
  set_rows(pair, head.queries.data() + block.queries, block.rows);
  visits_ = head.visits.data() + block.queries;
  set_columns(head.columns.data() + block.columns, block.width);
  const Arrangement::Extent* extent = head.extents.data() + block.extents;
  for (Index r = 0; r < rows_; r += group_rows, ++extent) {
    extents_[static_cast<std::size_t>(r / group_rows)] = {extent->begin, extent->end};
  }
  mask_words_ = block.words < 0 ? nullptr : head.words.data() + block.words;
  mask_words_per_row_ = (count_ + 63) / 64;
}

void ArrangedColumns::set(Index pair, const Arrangement::Head& head,
                          const Arrangement::LoneRow& row) {
  set_rows(pair, &row.query, 1);
  lone_visit_ = Arrangement::last_visit;
  if (row.first) lone_visit_ |= Arrangement::first_visit;
  visits_ = &lone_visit_;
  set_columns(head.columns.data() + row.columns, row.width);
  extents_[0] = {0, count_};
  mask_words_ = nullptr;
}

void ArrangedColumns::set_columns(const std::int32_t* columns, Index count) {
  column_data_ = columns;
  count_ = count;
  is_interval_ = columns[count - 1] - columns[0] == count - 1;
}

void ArrangedColumns::hide(const Tile& tile, float* s, Index s_stride, float value) {
  if (mask_words_ == nullptr) return;
  constexpr Index word_bits = 64;
  for (Index r = 0; r < tile.rows; ++r) {
    const Extent extent = tile.extent(r);
    const std::uint64_t* words = mask_words_ + r * mask_words_per_row_;
    float* line = s + r * s_stride;
    for (Index x = extent.begin; x < extent.end;) {
      const Index bit = tile.first + x, shift = bit % word_bits;
      const Index count = std::min(word_bits - shift, extent.end - x);
      std::uint64_t missing = ~words[bit / word_bits] >> shift;
      if (count < word_bits) missing &= (std::uint64_t{1} << count) - 1;
      for (; missing != 0; missing &= missing - 1) line[x + std::countr_zero(missing)] = value;
      x += count;
    }
  }
}

}  // namespace attnscope::cpu
