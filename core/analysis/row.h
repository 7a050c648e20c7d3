// Statistics of one row of an attention matrix.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

struct RowStatistics {
  double sum = 0;                // 1 for a softmax, 0 for a row without allowed keys
  bool has_negative = false;     // some weight is negative: the row is no distribution
  double entropy = 0;            // bits; over the positive weights, without normalising them
  double effective = 1;          // effective number of keys, 2^entropy
  Index largest = -1;            // column of the largest magnitude; -1 if all weights are 0
  std::vector<Index> strongest;  // columns by descending magnitude of the weight
};

// weights: `count` numbers. `strongest` has at most `max_strongest` columns, none of weight 0.
RowStatistics row_statistics(const float* weights, Index count, Index max_strongest);

}  // namespace attnscope
