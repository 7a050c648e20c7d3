// Reordering between a source text and its output, from cross-attention.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

// For each row, the source token with the largest weight, in a tie the first; -1 if no weight of
// the row is positive. weights: [L, L_source].
std::vector<Index> strongest_sources(const Tensor& weights);

// Fraction of discordant pairs among the pairs of the first `rows` rows whose strongest source
// tokens differ. A pair is discordant if its rows and its source tokens are in opposite order. 0:
// the output keeps the source order, 1: reverses it, 0.5: is unrelated to it. NaN without pairs.
double crossing(const Tensor& weights, Index rows);

}  // namespace attnscope
