// Forward pass for plain products of queries and keys under a softmax, where each query attends to
// one run of keys: dense, causal and local attention.
//
// Needs no running maximum. By Cauchy-Schwarz no score of query i exceeds
// b_i = scale |q_i| max_j |k_j|, so that the exponentials of s - b_i are in [exp(-2 b_i), 1], a
// range that float32 represents if b_i < 43. The general pass (forward.cpp) computes all other rows
// and patterns. Scores become exponentials in registers.
#pragma once

#include <array>

#include "core/attention/backend.h"
#include "core/attention/cpu/columns.h"
#include "core/attention/cpu/key_panels.h"
#include "core/attention/cpu/weight_writer.h"

namespace attnscope::cpu {

class PlainRows {
 public:
  PlainRows(const Prepared& prepared, const ResultRequest& wanted, PartResult& result);

  // Computes rows [row, end) of one pair, at most block_rows rows, until a row requires the general
  // pass. Returns that row, or `end`. Results are complete after finish().
  Index run(Index pair, Index row, Index end);
  void finish() { writer_.finish(); }

 private:
  struct Group {  // keys [begin, end) that group_rows rows need
    Index begin = 0, end = 0;
  };
  struct KeyRange {  // keys [first, end) of a step; the panel of `first` begins with key `panel`
    Index panel = 0, first = 0, end = 0;
    bool operator==(const KeyRange&) const = default;
  };
  static constexpr Index max_step_rows = 3 * group_rows;  // their weights fit the L1 cache

  bool run_rows(Index row, Index end);
  bool find_keys();
  Group all_keys();
  bool scale_queries();
  void add_keys(Index begin, Index end);
  void add_rectangle(Index r, Index rows, const KeyRange& keys, bool is_first);
  void find_next_rows();
  void report();

  Group& group_of(Index r) { return groups_[static_cast<std::size_t>(r / group_rows)]; }

  const Prepared& prepared_;
  const ResultRequest& wanted_;
  PartResult& result_;
  const bool is_supported_;
  const Index keys_per_step_;
  Index rows_per_step_ = block_rows;
  Index pair_ = 0, row_ = 0, rows_ = 0;
  // First query, key and value row to prefetch for the next block; may be null.
  const float *next_q_ = nullptr, *next_k_ = nullptr, *next_v_ = nullptr;
  WeightBlock block_;  // p: weights of a rectangle, or of the whole block if attention is requested
  WeightWriter writer_;
  KeyPanels panels_;
  std::array<Group, block_rows / group_rows> groups_;
  std::array<float, block_rows> shift_{};  // b_i / ln 2, rounded up
  Tensor scaled_q_;                        // scale / ln 2 * q  [block_rows, d_k]
  Tensor output_;                          // [block_rows, d_v]
  Tensor sums_;                            // [block_rows, sum_lanes]
};

}  // namespace attnscope::cpu
