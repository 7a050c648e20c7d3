#include "core/part/pattern.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <queue>

#include "core/base/ensure.h"
#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/part/arrangement.h"

namespace attnscope {
namespace {

// Runs store columns in 32 bits, because shaders read them directly.
void check_columns(Index keys) {
  if (keys < 0 || keys > std::numeric_limits<std::int32_t>::max()) {
    throw InputError("pattern: expected at most 2147483647 keys, found " + std::to_string(keys));
  }
}

bool contains(const Run& run, Index column) {
  return column >= run.begin && column < run.end && (column - run.begin) % run.step == 0;
}

// Appends `next` to `last` if both form one run: two adjacent runs of step 1, or a stepped run and
// its next column.
bool extend_run(Run& last, const Run& next) {
  if (last.rule != next.rule || last.step != next.step) return false;
  if (next.begin != last.end - 1 + last.step) return false;
  last.end = next.end;
  return true;
}

// Doubles the capacity. Checks for cancellation, because moving many megabytes is slow.
void grow(StorageVector<Run>& runs) {
  constexpr std::size_t kChunk = std::size_t{1} << 18;
  StorageVector<Run> larger;
  larger.reserve(std::max<std::size_t>(64, 2 * runs.size()));
  for (std::size_t first = 0; first < runs.size(); first += kChunk) {
    check_stop();
    const std::size_t end = std::min(first + kChunk, runs.size());
    larger.insert(larger.end(), runs.data() + first, runs.data() + end);
  }
  runs = std::move(larger);
}

}  // namespace

Pattern Pattern::all(Index queries, Index keys) {
  PatternBuilder builder(1, queries, keys, {"all"});
  for (Index i = 0; i < queries; ++i) {
    builder.add(0, 0, keys);
    builder.next_row();
  }
  return builder.finish();
}

Pattern Pattern::causal(Index queries, Index keys, Index columns_before) {
  PatternBuilder builder(1, queries, keys, {"causal"});
  for (Index i = 0; i < queries; ++i) {
    builder.add(0, 0, i + columns_before + 1);
    builder.next_row();
  }
  return builder.finish();
}

Pattern::Row Pattern::row(Index head, Index query) const {
  const Index r = (heads_ == 1 ? 0 : head * queries_) + query;
  ensure(r >= 0 && r < heads_ * queries_);
  const std::int64_t* start = starts_.data() + r;
  return {runs_.data() + start[0], runs_.data() + start[1]};
}

Index Pattern::row_size(Index head, Index query) const {
  Index count = 0;
  for (const Run& run : row(head, query)) count += run.count();
  return count;
}

Index Pattern::pair_count(Index heads) const {
  Index count = 0;
  for (std::size_t n = 0; n < runs_.size(); ++n) {
    if (n % 65536 == 0) check_stop();
    count += runs_[n].count();
  }
  return heads_ == 1 ? count * heads : count;
}

bool Pattern::allowed(Index head, Index query, Index key) const {
  return rule(head, query, key) >= 0;
}

int Pattern::rule(Index head, Index query, Index key) const {
  for (const Run& run : row(head, query)) {
    if (run.begin > key) break;
    if (contains(run, key)) return run.rule;
  }
  return -1;
}

ByteTensor Pattern::mask(Index heads) const {
  ByteTensor mask = ByteTensor::zeros({heads, queries_, keys_});  // [h, L_q, L_k]
  for (Index a = 0; a < heads; ++a) {
    for (Index i = 0; i < queries_; ++i) {
      check_stop();
      std::uint8_t* out = mask.data() + (a * queries_ + i) * keys_;
      for (const Run& run : row(a, i)) {
        for (Index c = run.begin; c < run.end; c += run.step) out[c] = 1;
      }
    }
  }
  return mask;
}

struct Pattern::ArrangementCache {
  std::mutex mutex;
  std::shared_ptr<const Arrangement> arrangement;
};

// Computes the arrangement without holding the lock: helper threads may need the lock.
std::shared_ptr<const Arrangement> Pattern::arrangement() const {
  const auto read_cache = [this] {
    const std::scoped_lock lock(arrangement_cache_->mutex);
    return arrangement_cache_->arrangement;
  };
  if (auto arrangement = read_cache()) return arrangement;
  auto computed = std::make_shared<const Arrangement>(arrange(*this));
  const std::scoped_lock lock(arrangement_cache_->mutex);
  if (!arrangement_cache_->arrangement) arrangement_cache_->arrangement = std::move(computed);
  return arrangement_cache_->arrangement;
}

PatternBuilder::PatternBuilder(Index heads, Index queries, Index keys,
                               std::vector<std::string> rules)
    : limit_(keys) {
  check_columns(keys);
  pattern_.heads_ = heads;
  pattern_.queries_ = queries;
  pattern_.keys_ = keys;
  pattern_.rules_ = std::move(rules);
  pattern_.starts_.reserve(static_cast<std::size_t>(heads * queries + 1));
  pattern_.starts_.push_back(0);
}

void PatternBuilder::set_causal_limit(Index first_hidden) {
  limit_ = std::clamp<Index>(first_hidden, 0, pattern_.keys_);
}

void PatternBuilder::add(int rule, Index begin, Index end, Index step) {
  ensure(step >= 1 && rule >= 0 && rule < static_cast<int>(pattern_.rules_.size()));
  if (begin < 0) begin += (-begin + step - 1) / step * step;
  end = std::min(end, pattern_.keys_);
  if (begin >= end) return;
  end = begin + (end - begin - 1) / step * step + 1;
  if (end - begin == 1) step = 1;
  row_.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end),
                  static_cast<std::int32_t>(step), rule});
}

bool PatternBuilder::row_is_empty() const {
  return std::none_of(row_.begin(), row_.end(),
                      [this](const Run& run) { return run.begin < limit_; });
}

void PatternBuilder::next_row() {
  check_stop();
  std::erase_if(row_, [this](Run& run) {
    if (run.end <= limit_) return false;
    run.end = static_cast<std::int32_t>(limit_);
    if (run.begin >= run.end) return true;
    run.end = run.begin + (run.end - run.begin - 1) / run.step * run.step + 1;
    if (run.end - run.begin == 1) run.step = 1;
    return false;
  });
  merge_row();
  row_.clear();
  limit_ = pattern_.keys_;
  pattern_.starts_.push_back(static_cast<std::int64_t>(pattern_.runs_.size()));
}

// Sorts the row's runs and keeps each column's first rule.
//
// Runs that are ascending and disjoint are copied. Otherwise stepped runs are split into single
// columns, a sweep from left to right keeps the run added first wherever runs overlap, and adjacent
// runs are joined again.
void PatternBuilder::merge_row() {
  StorageVector<Run>& runs = pattern_.runs_;
  const std::size_t row_begin = runs.size();
  const auto append = [&](const Run& run) {
    if (runs.size() > row_begin && extend_run(runs.back(), run)) return;
    if (runs.size() == runs.capacity()) grow(runs);
    runs.push_back(run);
  };

  bool is_disjoint = true;
  for (std::size_t n = 1; n < row_.size(); ++n) is_disjoint &= row_[n - 1].end <= row_[n].begin;
  if (is_disjoint) {
    for (const Run& run : row_) append(run);
    return;
  }

  struct Piece {  // consecutive columns, or one column of a stepped run
    Run run;
    std::size_t order;
  };
  std::vector<Piece> pieces;
  for (std::size_t n = 0; n < row_.size(); ++n) {
    const Run& run = row_[n];
    if (run.step == 1) {
      pieces.push_back({run, n});
    } else {
      for (std::int32_t c = run.begin; c < run.end; c += run.step) {
        pieces.push_back({{c, c + 1, run.step, run.rule}, n});
      }
    }
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.run.begin < b.run.begin; });

  const auto is_later = [&](std::size_t a, std::size_t b) {
    return pieces[a].order > pieces[b].order;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(is_later)> active(is_later);
  std::int32_t column = 0;
  for (std::size_t next = 0; next < pieces.size() || !active.empty();) {
    if (active.empty()) column = std::max(column, pieces[next].run.begin);
    while (next < pieces.size() && pieces[next].run.begin <= column) active.push(next++);
    const Run& first = pieces[active.top()].run;
    if (first.end <= column) {
      active.pop();
      continue;
    }
    const std::int32_t end =
        next < pieces.size() ? std::min(first.end, pieces[next].run.begin) : first.end;
    append({column, end, first.step, first.rule});
    column = end;
  }
  for (std::size_t r = row_begin; r < runs.size(); ++r) {
    if (runs[r].count() == 1) runs[r].step = 1;
  }
}

Pattern PatternBuilder::finish() {
  ensure(static_cast<Index>(pattern_.starts_.size()) == pattern_.heads_ * pattern_.queries_ + 1);
  pattern_.arrangement_cache_ = std::make_shared<Pattern::ArrangementCache>();
  return std::move(pattern_);
}

}  // namespace attnscope
