// Pattern: the keys that each query may attend to (S_i in spec.md, section 1), as runs of columns.
//
// Memory and time are proportional to the number of runs, not to L². Columns are indices into the
// keys of the operation (memory columns included), not positions (see part.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/tensor/storage.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct Arrangement;

// Columns begin, begin + step, ... below end, admitted by rule `rule`.
struct Run {
  std::int32_t begin = 0, end = 0;
  std::int32_t step = 1;
  std::int32_t rule = 0;
  Index count() const { return end <= begin ? 0 : (end - begin + step - 1) / step; }
};

class Pattern {
 public:
  // all() allows every key for every query, causal() columns 0 .. columns_before + i for query i.
  static Pattern all(Index queries, Index keys);
  static Pattern causal(Index queries, Index keys, Index columns_before = 0);

  Index heads() const { return heads_; }  // 1 if all heads share the rows
  Index queries() const { return queries_; }
  Index keys() const { return keys_; }
  const std::vector<std::string>& rules() const { return rules_; }  // "window", "global", ...

  // The runs of query i in head a, sorted by begin and disjoint as sets of columns.
  struct Row {
    const Run* first;
    const Run* last;
    const Run* begin() const { return first; }
    const Run* end() const { return last; }
    bool empty() const { return first == last; }
  };
  Row row(Index head, Index query) const;
  Index row_size(Index head, Index query) const;  // number of allowed keys of a row
  Index pair_count(Index heads) const;            // number of allowed pairs in `heads` heads
  bool allowed(Index head, Index query, Index key) const;
  int rule(Index head, Index query, Index key) const;  // -1 if not allowed
  ByteTensor mask(Index heads) const;                  // [heads, L_q, L_k], 1 where allowed

  // Flat arrays for compute shaders: row r has the runs runs()[starts()[r] .. starts()[r + 1]).
  const StorageVector<Run>& runs() const { return runs_; }
  const StorageVector<std::int64_t>& starts() const { return starts_; }  // [heads * queries + 1]

  // Rows reordered for kernels (arrangement.h), computed by the first call and shared by copies of
  // the pattern. Thread-safe. Throws Stopped.
  std::shared_ptr<const Arrangement> arrangement() const;

 private:
  friend class PatternBuilder;
  struct ArrangementCache;
  Index heads_ = 1, queries_ = 0, keys_ = 0;
  std::vector<std::string> rules_;
  StorageVector<Run> runs_;
  StorageVector<std::int64_t> starts_;
  std::shared_ptr<ArrangementCache> arrangement_cache_;
};

// Builds a pattern row by row: for each head and query, add() runs in order of priority, then
// next_row(). A column admitted twice keeps its first rule. Columns outside [0, keys) are clipped;
// set_causal_limit(n) drops columns >= n of the current row.
class PatternBuilder {
 public:
  PatternBuilder(Index heads, Index queries, Index keys, std::vector<std::string> rules);
  void set_causal_limit(Index first_hidden);
  void add(int rule, Index begin, Index end, Index step = 1);
  void add_column(int rule, Index column) { add(rule, column, column + 1); }
  bool row_is_empty() const;  // true if the current row has no column yet
  void next_row();
  Pattern finish();  // after all rows

 private:
  void merge_row();
  Pattern pattern_;
  std::vector<Run> row_;
  Index limit_ = 0;
};

}  // namespace attnscope
