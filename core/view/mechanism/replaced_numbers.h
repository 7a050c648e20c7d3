// Changes in a head when one token of the text is replaced.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

struct ReplacedChange {
  Index row = -1;               // row of the token's query; -1: none
  Index column = -1;            // column of the token's key; -1 if keys are not tokens
  Tensor weights;               // |a' − a|, NaN for pairs excluded in both runs  [L_q, L_k]
  std::vector<double> rows;     // per query: half the sum of |a' − a|, the weight that moved
  std::vector<double> outputs;  // per query: |o' − o| / |o|; 0 if both are zero
  std::vector<bool> attends;    // per query: can attend to the token in either run
};
// Compares the head in both runs; `position`: index of the replaced token. Throws InputError if the
// maps differ in size or have more than 2^22 pairs.
ReplacedChange replaced_change(const Trace& trace, const AttentionTap& original,
                               const AttentionTap& replaced, Index head, Index position);

// Thresholds above the rounding error of reordered sums.
inline constexpr double kMinChange = 2e-6;        // change of a row's weights
inline constexpr double kMinOutputChange = 2e-5;  // change of an output

// Conclusions, one sentence each: "Row 7 changes: ...". `layer`: layer of the head.
std::vector<std::string> describe_change(const ReplacedChange& change, Index layer);

}  // namespace attnscope
