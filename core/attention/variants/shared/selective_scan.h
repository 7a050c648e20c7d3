// Selective scan of Mamba's S6 layer (Gu and Dao, 2023, algorithm 2). Channel c of a head has a
// state of N numbers, with decays that depend on the token by its step size Δ:
//   H_t[n, c] = e^{Δ_t[c] A[n, c]} H_{t-1}[n, c] + Δ_t[c] B_t[n] v_t[c],   out_t[c] = C_t · H_t[:,
//   c]
// It equals Σ_j a_ij v_j with the signed weights (Ali et al., 2024, equation 10)
//   a_ij[c] = Σ_n C_i[n] e^{A[n, c] Σ_{j<r<=i} Δ_r[c]} Δ_j[c] B_j[n]
// States are computed in double precision.
#pragma once

#include "core/attention/variants/shared/implied_rows.h"

namespace attnscope {

template <class T>
struct SelectiveInput {
  T delta{};   // [B h, L, d_v]
  T a{};       // [h, d_v, N], negative
  T b{}, c{};  // [B, L, N], shared by the heads
};

// v: [B h, L, d_v].  [B h, L, d_v]
Var selective_scan(const SelectiveInput<Var>& input, const Var& v);

// Weights a_ij, mean over channels.
std::shared_ptr<const ImpliedRows> selective_rows(const SelectiveInput<Tensor>& input);

}  // namespace attnscope
