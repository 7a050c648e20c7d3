// Patterns as matrices and in numbers.
#pragma once

#include <vector>

#include "core/view/view.h"

namespace attnscope {

// A part of the pairs, a number for each block of row_step x column_step of them.
struct PatternWindow {
  Index row = 0, column = 0, height = 0, width = 0;  // in pairs
  Index row_step = 1, column_step = 1;
};

// All pairs where these are at most 2048 x 2048; otherwise the visible part, in blocks so that it
// is no larger than that.
PatternWindow pattern_window(Index queries, Index keys, double row, double column, double height,
                             double width);

// The number of the rule that admits a pair, NaN where none does; of a block the largest number.
// [ceil(height / row_step), ceil(width / column_step)]
Tensor pattern_rules(const Pattern& pattern, Index head, const PatternWindow& window);
// Where a mask says which pairs are allowed ([h, L_q, L_k]); pairs that the pattern lacks count as
// its rule 0.
Tensor masked_rules(const Pattern& pattern, const ByteTensor& mask, Index head);

// The number of the rule that admits one pair of a tap's head, by its mask where it has one; -1:
// none does.
int shown_rule(const AttentionTap& tap, Index head, Index query, Index key);

struct PatternCounts {
  std::vector<Index> by_rule;
  Index allowed = 0;    // pairs of one head
  Index all = 0;        // L_q L_k
  double cost = 0;      // what the mechanism takes, in pairs; see HeadCost
  double full = 0;      // what full attention takes: L_q L_k, or below the diagonal where causal
  bool causal = false;  // no query sees a later key
};
PatternCounts pattern_counts(const AttentionTap& tap, Index head);

}  // namespace attnscope
