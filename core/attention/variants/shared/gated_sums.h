// Gated running sums of features (Peng et al., 2021, section 3.2):
//   S_t = g_t S_{t-1} + (1 - g_t) φ(k_t) ⊗ v_t,   output_t = φ(q_t) S_t / (φ(q_t)·z_t)
// where z_t is S_t computed with all values set to 1.
// Key j has the factor (1 - g_j) Π_{j<r<=i} g_r in row i. Factors common to all keys of a row
// cancel, so that every row can use exp(e_j), e_j = log(1 - g_j) + Σ_{r>j} log g_r.
#pragma once

#include "core/attention/variants/shared/features.h"

namespace attnscope {

// e_j, for Features::exponents and exact_exponents.
struct GateExponents {
  Var exponents;  // [B h, L, 1]
  Doubles exact;  // exponents before rounding
};

// Exponents for the gates g = sigmoid(logits). logits: [B h, L]
GateExponents gate_exponents(const Var& logits);

// Causal run_features(), where the exponents of k are GateExponents. Unless weights are requested,
// computes blocks of rows within which the scale of the sums changes little, in O(L).
OperationResult run_gated(const OperationInput& input, const Features& q, const Features& k,
                          Backend& backend, const ResultRequest& wanted);

}  // namespace attnscope
