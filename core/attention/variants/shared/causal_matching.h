// Sinkhorn normalisation for causal order (Tay et al., 2020, Sparse Sinkhorn Attention,
// 2002.11296).
//
// Rows are places, columns blocks; only earlier blocks J < I can be sorted to place I. A round
// first divides each entry (I, J) by the sum of column J over places up to I, since sums over later
// places would let a row depend on later tokens. It then divides each row by its sum. Rows of
// places > 0 sum to 1; row 0 is empty. Many rounds approach the matching of every place with the
// previous block, the only one-to-one matching below the diagonal.
#pragma once

#include <vector>

#include "core/autodiff/var.h"

namespace attnscope {

// One half of a round, for logarithms of weights [n, n]; entries on or above the diagonal are
// ignored.
void normalise_earlier_columns(std::vector<double>& logs, Index n);
void normalise_earlier_rows(std::vector<double>& logs, Index n);

// Weights after `rounds` rounds; 0 on and above the diagonal. logits: [N, n, n].  [N, n, n]
Var causal_matching(const Var& logits, Index rounds);

}  // namespace attnscope
