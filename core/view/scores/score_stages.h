// Stages of one head's scores: terms, sum, softmax, weighted values.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/refusal.h"

namespace attnscope {

// A term of the scores or their sum for every pair; NaN for excluded pairs.
struct ScoreMap {
  std::string name;  // "content"
  std::string short_name;
  Tensor cells;  // [L_q, L_k], scale applied
  bool is_sum = false;
  bool is_factor = false;  // multiplies the previous terms instead of being added
};

// Reason why there are no terms to show.
Refusal why_no_scores(const Trace& trace, const AttentionTap& tap);

// Terms in the order of spec.md, section 3, followed by their sum. If the encoding rotates q and k,
// so that content and position share one product, the terms are that product without rotation, and
// the effect of the rotation.
std::vector<ScoreMap> score_maps(const ViewInput& input, const AttentionTap& tap, Index head);

// One row through all stages, by key; NaN for excluded keys.
struct RowStages {
  std::vector<std::vector<double>> terms;  // [terms][L_k]
  std::vector<double> score, weight;       // [L_k]
  std::vector<double> contribution;        // weight times the norm of the key's value
};
RowStages row_stages(const AttentionTap& tap, Index head, Index query,
                     const std::vector<ScoreMap>& maps);

}  // namespace attnscope
