// Score terms of a part.
#pragma once

#include <map>

#include "core/part/part.h"

namespace attnscope {

// Score terms of a part, scaled, [B h, L_q, L_k] each, 0 where not allowed (spec.md, section 3;
// `--terms`). Their sum (times Factor, if present) is `scores` before the cap. Content is always
// present.
std::map<Term, Tensor> score_terms(const Part& part);

// Queries or keys as the sum of a content and a position part.
struct Addends {
  Var content, place;  // [B h, L, d_k] each
};
// The expanded product, for Part::split (input encodings).
std::vector<ExtraProduct> split_products(const Addends& queries, const Addends& keys);

}  // namespace attnscope
