// Columns of an attention map: the attention that a key receives from the queries.
#pragma once

#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Sum of a key's weights over queries (see column_sums()).
struct ColumnSum {
  double sum = 0;
  Index count = 0;  // number of these queries
  // Mean over the queries other than one that gives the key `weight`; NaN if there are no others.
  // High for keys that attract all queries, such as attention sinks.
  double mean_without(double weight) const;
};

// One sum per key of a map [L_q, L_k] of the tap. Omits negative weights and NaN, and in causal
// maps the queries before the key; the last query is at the position of the last key. Weights of 0
// count, even if the pattern excludes the pair.
std::vector<ColumnSum> column_sums(const AttentionTap& tap, const Tensor& weights);

}  // namespace attnscope
