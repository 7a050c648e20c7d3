// Reordering between a source text and its output, from cross-attention.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

// weights: [L, L_source]. Source token with the largest weight of each row, the first among equals;
// -1 if a row has no positive weight.
std::vector<Index> strongest_sources(const Tensor& weights);

// Fraction of discordant pairs: of all pairs of rows i < j among the first `rows` with different
// strongest source tokens, those whose source tokens are in reverse order. 0: the output follows
// the source order, 1: it reverses it, 0.5: unrelated. NaN if all rows have the same source token.
double crossing(const Tensor& weights, Index rows);

}  // namespace attnscope
