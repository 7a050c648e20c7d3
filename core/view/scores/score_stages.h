// The way of one head's scores, in numbers: terms, sum, softmax, weighted values.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/refusal.h"

namespace attnscope {

// A term of the scores or their sum, for every pair; NaN where a pair is not allowed.
struct ScoreMap {
  std::string name;  // "content"
  std::string short_name;
  Tensor cells;  // [L_q, L_k], scale applied
  bool is_sum = false;
  bool is_factor = false;  // multiplies what comes before instead of being added
};

// Why there are no terms to show.
Refusal why_no_scores(const Trace& trace, const AttentionTap& tap);

// The terms apart, in the order of SPEC section 3, and their sum at the end. Where an encoding
// turns q and k, so that content and position share one product, the terms are that product as it
// would be without turning, and what turning changes.
std::vector<ScoreMap> score_maps(const ViewInput& input, const AttentionTap& tap, Index head);

// One row through all stages; numbers by key, NaN where a key is not allowed.
struct RowStages {
  std::vector<std::vector<double>> terms;  // [terms][L_k]
  std::vector<double> score, weight;       // [L_k]
  std::vector<double> contribution;        // weight times the length of the key's value
};
RowStages row_stages(const AttentionTap& tap, Index head, Index query,
                     const std::vector<ScoreMap>& maps);

}  // namespace attnscope
