// Score terms of a part: contributions of content and position.
#pragma once

#include <map>

#include "core/part/part.h"

namespace attnscope {

// Scaled terms, [B h, L_q, L_k] each, 0 where not allowed (spec.md, section 3; `--terms`). Their
// sum (times Factor, if present) is the score before the score cap. Content is always present.
std::map<Term, Tensor> score_terms(const Part& part);

// Queries or keys as the sum of a content and a position part.
struct Addends {
  Var content, position;  // [B h, L, d_k] each
};
// Products of all pairs of addends, for Part::split (input encodings).
std::vector<ExtraProduct> split_products(const Addends& queries, const Addends& keys);

}  // namespace attnscope
