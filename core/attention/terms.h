// What a part says of its pairs: score terms, and which of them take part.
#pragma once

#include <map>

#include "core/base/stop.h"
#include "core/part/part.h"

namespace attnscope {

// The score terms of a part, scale applied, [B h, L_q, L_k] each, 0 where not allowed; SPEC
// section 3, `--terms`. Their sum (times Factor, where there is one) is `scores`, before the cap
// where these have one. Content is
// always there.
std::map<Term, Tensor> score_terms(const Part& part, const Stop& stop = {});

// Queries or keys as the sum of what their content gives and what their place gives.
struct Addends {
  Var content, place;  // [B h, L, d_k] each
};
// Their product multiplied out, as Part::split has it: of encodings of the input.
std::vector<ExtraProduct> split_products(const Addends& queries, const Addends& keys);

// 1 where a pair takes part: allowed by the pattern and reached by the span.  [B h, L_q, L_k]
ByteTensor allowed_pairs(const Part& part);

}  // namespace attnscope
