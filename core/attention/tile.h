// What a part says of its pairs, computed where somebody looks: tiles of a map, terms, the mask.
#pragma once

#include <map>

#include "core/attention/part.h"
#include "core/base/stop.h"

namespace attnscope {

// Rows [row, row + height) and columns [col, col + width) of row `head` (of B h) of the attention,
// from the ingredients and the rows' log-sum-exp as Backend::run reports it.  [height, width]
Tensor attention_tile(const Part& part, const Tensor& log_sum_exp, Index head, Index row, Index col,
                      Index height, Index width);

// The score terms of a part, scale applied, [B h, L_q, L_k] each, 0 where not allowed; SPEC
// section 3, `--terms`. Their sum (times Factor, where there is one) is `scores`. Content is
// always there.
std::map<Term, Tensor> score_terms(const Part& part, const Stop& stop = {});

// 1 where a pair takes part: allowed by the pattern and reached by the span.  [B h, L_q, L_k]
ByteTensor allowed_pairs(const Part& part);

}  // namespace attnscope
