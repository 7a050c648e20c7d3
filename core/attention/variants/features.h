// Attention whose weights are ratios of feature products: a_ij = φ(q_i)·φ(k_j) / sum.
#pragma once

#include "core/attention/variants/assemble.h"

namespace attnscope {

// q_features: [B h, L_q, D], k_features: [B h, L_k, D]. The output comes from running sums in
// O(L); weights are computed pair by pair only where they are wanted.
OperationResult run_features(const OperationInput& input, const Var& q_features,
                             const Var& k_features, Backend& backend, const Wanted& wanted,
                             const Stop& stop);

// The softmax over the same S_i that random features estimate, of scale * q·k.  [B h, L_q, L_k]
Tensor exact_attention(const OperationInput& input, const Var& q, const Var& k, double scale,
                       Backend& backend, const Stop& stop);

// Products of every row of x with every row of the random matrix of its head.
// x: [B h, L, d_k], w: [h, D, d_k].  [B h, L, D]
Var feature_products(const Var& x, const Var& w, Index heads);

// How many random directions a head draws, by the letter of the paper.
Parameter features_parameter(const char* symbol);
// A weight for these directions, [h, D, d_k].
WeightInfo random_directions(const char* name);

}  // namespace attnscope
