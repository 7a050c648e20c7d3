// Score terms of a part: contributions of content and position.
#pragma once

#include <map>

#include "core/part/part.h"

namespace attnscope {

// Scaled terms [B h, L_q, L_k], 0 where not allowed (spec.md, section 3; `--terms`). The score
// before the cap is Bias + Factor * the sum of all other terms. Content is always present.
std::map<Term, Tensor> score_terms(const Part& part);

// Queries or keys as the sum of a content vector and a position vector.
struct Addends {
  Var content, position;  // [B h, L, d_k] each
};
// Product of each query addend with each key addend, for Part::split of input encodings.
std::vector<ExtraProduct> split_products(const Addends& queries, const Addends& keys);

}  // namespace attnscope
