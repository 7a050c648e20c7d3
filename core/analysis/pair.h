// What one pair's score is made of: the terms of SPEC section 3 for a single query and key.
#pragma once

#include <map>
#include <optional>

#include "core/part/part.h"

namespace attnscope {

struct PairScore {
  // By name, with the scale applied except to Bias and Factor, as `--terms` reports them.
  std::map<Term, double> terms;
  double product = 0;   // q_i . k_c before the scale (after the ReLU, where there is one)
  double uncapped = 0;  // s_ic before the cap, where there is one
  double score = 0;     // s_ic
};

// In double precision, for batch entry 0. Nothing for parts whose scores are no products. The
// pattern is not asked: the score of a pair that is not allowed is what it would be.
std::optional<PairScore> pair_score(const Part& part, Index head, Index query, Index key);

}  // namespace attnscope
