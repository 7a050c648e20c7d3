// Statistics of one row of an attention matrix.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

struct RowStatistics {
  double sum = 0;                // 1 for a softmax, 0 for a row in which nothing is allowed
  bool has_signs = false;        // some weight is negative: these are no shares
  double entropy = 0;            // bits; of the weights as they are, terms of weights <= 0 left out
  double effective = 1;          // 2^entropy: as many equal weights have this entropy
  Index largest = -1;            // the column of the largest weight; -1 for an empty row
  std::vector<Index> strongest;  // the columns of the weights farthest from 0, the farthest first
};

// weights: `count` numbers; `strongest` gets at most `most` columns, none of weight 0.
RowStatistics row_statistics(const float* weights, Index count, Index most);

}  // namespace attnscope
