// Gated running sums of features (Peng et al., 2021, section 3.2):
//   S_t = g_t S_{t-1} + (1 - g_t) φ(k_t) ⊗ v_t,   z_t alike,   output_t = φ(q_t) S_t / φ(q_t)·z_t
// so that after row i key j has the factor (1 - g_j) Π_{j<r<=i} g_r. Factors of the row cancel, and
// exp(e_j) remains, e_j = log(1 - g_j) + Σ_{r>j} log g_r: the factor of key j after the last row.
#pragma once

#include "core/attention/variants/shared/features.h"

namespace attnscope {

// e_j, for Features::exponents and exact_exponents.
struct GateExponents {
  Var exponents;  // [B h, L, 1]
  Doubles exact;  // before rounding
};

// logits [B h, L]: g = sigmoid of these.
GateExponents gate_exponents(const Var& logits);

// Causal run_features(); the exponents of k are those of the gates. O(L) unless weights are
// requested, in blocks of rows within which the sums keep their scale.
OperationResult run_gated(const OperationInput& input, const Features& q, const Features& k,
                          Backend& backend, const Wanted& wanted);

}  // namespace attnscope
