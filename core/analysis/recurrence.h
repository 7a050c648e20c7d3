// Recurrent forms of attention: each token is written to a matrix state, S_t, and reads from it.
//
// Features: linear attention, whose weights are ratios of feature products (Katharopoulos et al.,
// 2020, section 3.4; gates: Peng et al., 2021, section 3.2):
//   S_t = S_{t-1} + φ(k_t) ⊗ v_t,             z_t = z_{t-1} + φ(k_t)
//   S_t = g_t S_{t-1} + (1 - g_t) φ(k_t) ⊗ v_t,   z_t likewise, with gates
//   output_t = φ(q_t) S_t / (φ(q_t)·z_t)
// With features rotated by position (RoFormer, equation 19), S_t and the read-out contain rotated
// features R_t φ; z_t and its product with φ(q_t) do not.
//
// Wkv: RWKV-4 (wkv.h), with two sums per channel that decay by e^{-w}:
//   a_t = e^{-w} a_{t-1} + e^{k_t} v_t,   b_t = e^{-w} b_{t-1} + e^{k_t}
//   output_t = σ(r_t) (a_{t-1} + e^{u + k_t} v_t) / (b_{t-1} + e^{u + k_t})
// Selective: Mamba (selective_scan.h), with N numbers per channel:
//   S_t = e^{Δ_t A} S_{t-1} + B_t ⊗ Δ_t v_t,   output_t = C_t S_t + D v_t
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Reason why a head has no recurrent form; empty if it has one.
std::string recurrence_refusal(const AttentionTap& tap);

struct Recurrence {
  enum class Kind { Features, Wkv, Selective };

  // Features: features and values, [L, D], [L, D], [L, d_v]. Wkv: σ(r), k and v, [L, d_v].
  // Selective: C, B and v, [L, N], [L, N], [L, d_v].
  Tensor q, k, v;
  Tensor plain_q, plain_k;    // [L, D]: features before their rotation; undefined: not rotated
  std::vector<double> gates;  // [L]; empty: no forgetting
  Kind kind = Kind::Features;
  Tensor kept{}, bonus{};               // Wkv: e^{-w} and u, [d_v]
  Tensor delta{}, rates{}, skip{};      // Selective: Δ [L, d_v], A [d_v, N], D [d_v]
  std::vector<double> channel_means{};  // [L]: mean of σ(r) or of Δ over the channels
  Index length() const { return k.dim(0); }
  bool is_rotated() const { return plain_k.defined(); }
};
// Throws std::logic_error if the head has no recurrent form. `head`: within the tap's group.
Recurrence recurrence_of(const AttentionTap& tap, Index head);

// State update and output at token t.
struct RecurrentStep {
  // Features and Selective: the state before, decayed, the addition and the state now. Wkv: rows
  // (a, b) of the state before, of this token with its bonus, and their sum, which is read; each
  // channel is divided by the sum of b.  [D, d_v], [N, d_v] or [2, d_v]
  Tensor before, added, after;
  Tensor z;                     // Features: z_t [D]
  Tensor output;                // [d_v]
  std::vector<double> counts;   // Features: factor of each token 0 .. t in S_t, 1 without gates
  std::vector<double> weights;  // weights of query t on tokens 0 .. t, mean over channels; their
                                // sum is 1 unless features are rotated or the state is selective
};
RecurrentStep recurrent_step(const Recurrence& recurrence, Index t);

// recurrent_step() for the kinds Wkv and Selective.
RecurrentStep channel_step(const Recurrence& recurrence, Index t);

}  // namespace attnscope
