// Attention patterns as matrices of rules, and counts of their pairs.
#pragma once

#include <vector>

#include "core/view/view.h"

namespace attnscope {

// A region of pairs, in blocks of row_step x column_step.
struct PatternWindow {
  Index row = 0, column = 0, height = 0, width = 0;  // position and size in pairs
  Index row_step = 1, column_step = 1;
};

// The whole matrix if it has at most 2048 queries and at most 2048 keys; otherwise the visible
// region, in at most 2048 blocks along each axis.
PatternWindow pattern_window(Index queries, Index keys, double row, double column, double height,
                             double width);

// Index of the rule that admits each pair, NaN if excluded; the largest index in each block.
// [ceil(height / row_step), ceil(width / column_step)]
Tensor pattern_rules(const Pattern& pattern, Index head, const PatternWindow& window);
// The same for the whole matrix with a mask of allowed pairs [h, L_q, L_k]. Allowed pairs outside
// the pattern have rule 0.
Tensor masked_rules(const Pattern& pattern, const ByteTensor& mask, Index head);

// Index of the rule that admits one pair of a head, respecting its mask; -1 if excluded.
int rule_of_pair(const AttentionTap& tap, Index head, Index query, Index key);

struct PatternCounts {
  std::vector<Index> by_rule;
  Index allowed = 0;    // pairs per head
  Index all = 0;        // L_q L_k
  double cost = 0;      // pairs that the mechanism computes; see HeadCost
  double full = 0;      // pairs of full attention: L_q L_k, or the lower triangle if causal
  bool causal = false;  // no query attends to a later key
};
PatternCounts pattern_counts(const AttentionTap& tap, Index head);

}  // namespace attnscope
