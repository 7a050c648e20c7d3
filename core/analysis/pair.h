// Decomposition of one pair's score into the terms of spec.md, section 3.
#pragma once

#include <map>
#include <optional>

#include "core/part/part.h"

namespace attnscope {

struct PairScore {
  // Value of each term, as `--terms` reports it; all except Bias and Factor include the scale.
  std::map<Term, double> terms;
  double product = 0;   // q_i . k_c before the scale (after the ReLU, if any)
  double uncapped = 0;  // s_ic before the cap, if any
  double score = 0;     // s_ic
};

// Computes the score in double precision, for batch entry 0. Returns nullopt for parts whose scores
// are not products, or without q or k. Ignores the pattern: forbidden pairs have scores, too.
std::optional<PairScore> pair_score(const Part& part, Index head, Index query, Index key);

}  // namespace attnscope
