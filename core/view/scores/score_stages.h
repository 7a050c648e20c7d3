// Stages of one head's scores: terms, sum, softmax, weighted values.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/refusal.h"

namespace attnscope {

// A term of the scores, or the sum of all terms, for every pair; NaN for excluded pairs.
struct ScoreMap {
  std::string name;  // "content"
  std::string short_name;
  Tensor cells;  // terms times the scale  [L_q, L_k]
  bool is_sum = false;
  bool is_factor = false;  // multiplies the sum of the other terms
};

// Reason why this attention has no terms to show; empty if it has terms.
Refusal refusal_of_scores(const Trace& trace, const AttentionTap& tap);

// Terms in the order of spec.md, section 3, followed by their sum. If the encoding rotates q and k,
// one term is the product of the unrotated q and k, another is the effect of rotation on it.
std::vector<ScoreMap> score_maps(const ViewInput& input, const AttentionTap& tap, Index head);

// Numbers of one query in all stages, by key; NaN for excluded keys.
struct RowStages {
  std::vector<std::vector<double>> terms;  // [terms][L_k]
  std::vector<double> score, weight;       // [L_k]
  std::vector<double> contribution;        // weight times norm of the value  [L_k]
};
RowStages row_stages(const AttentionTap& tap, Index head, Index query,
                     const std::vector<ScoreMap>& maps);

}  // namespace attnscope
