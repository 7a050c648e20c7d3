// Linear attention, whose weights are ratios of feature products, as a recurrent network with a
// matrix state (Katharopoulos et al., 2020, section 3.4; gates: Peng et al., 2021, section 3.2):
//   S_t = S_{t-1} + φ(k_t) ⊗ v_t,             z_t = z_{t-1} + φ(k_t)
//   S_t = g_t S_{t-1} + (1 - g_t) φ(k_t) ⊗ v_t,   z_t likewise, with gates
//   output_t = φ(q_t) S_t / (φ(q_t)·z_t)
// With features rotated by position (RoFormer, equation 19), S_t and the read-out contain rotated
// features R_t φ; z_t and its product with φ(q_t) do not.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Reason why a head has no recurrent form; empty if it has one.
std::string recurrence_refusal(const AttentionTap& tap);

struct Recurrence {
  Tensor q, k, v;             // [L, D], [L, D], [L, d_v]: features and values
  Tensor plain_q, plain_k;    // [L, D]: features before their rotation; undefined: not rotated
  std::vector<double> gates;  // [L]; empty: no forgetting
  Index length() const { return k.dim(0); }
  bool is_rotated() const { return plain_k.defined(); }
};
// Throws std::logic_error if the head has no recurrent form. `head`: within the tap's group.
Recurrence recurrence_of(const AttentionTap& tap, Index head);

// State update and output at token t.
struct RecurrentStep {
  Tensor before, added, after;  // g_t S_{t-1}, (1 - g_t) φ(k_t) ⊗ v_t, S_t; each [D, d_v]
  Tensor z;                     // z_t [D]
  Tensor output;                // [d_v]
  std::vector<double> counts;   // factor of each token 0 .. t in S_t, 1 without gates
  std::vector<double> weights;  // weights of query t on tokens 0 .. t; sum 1 unless rotated
};
RecurrentStep recurrent_step(const Recurrence& recurrence, Index t);

}  // namespace attnscope
