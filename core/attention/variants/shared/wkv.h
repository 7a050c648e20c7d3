// WKV operator of RWKV-4 (Peng et al., 2023, equation 16). Each channel has a decay rate
// w = exp(decay) > 0 and a bonus u for the current token:
//   wkv_i = (Σ_{j<i} e^{k_j - (i-1-j) w} v_j + e^{u + k_i} v_i) / (the same sum without v)
// It equals Σ_j a_ij v_j, with weights a_ij that are a softmax over the tokens j <= i. Sums are
// carried from token to token in double precision, scaled by their largest exponential.
#pragma once

#include "core/attention/variants/shared/implied_rows.h"

namespace attnscope {

// k, v: [B h, L, d]; decay, bonus: [h, d].  [B h, L, d]
Var wkv(const Var& k, const Var& v, const Var& decay, const Var& bonus);

// Weights a_ij, mean over channels.
std::shared_ptr<const ImpliedRows> wkv_rows(const Tensor& k, const Tensor& decay,
                                            const Tensor& bonus);

}  // namespace attnscope
