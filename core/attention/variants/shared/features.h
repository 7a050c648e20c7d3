// Attention whose weights are ratios of feature products: a_ij = φ(q_i)·φ(k_j) / sum.
#pragma once

#include <functional>

#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/exact.h"

namespace attnscope {

// The features of queries or of keys.
struct Features {
  Var plain;  // [B h, L, D], up to factors that cancel in the ratio
  // What they are made of, mantissa * exp(exponents), for products that float32 cannot hold. No
  // mantissa: 1, no exponents: 0; neither: plain features suffice.
  Var mantissa;             // [B h, L, D]
  Var exponents;            // [B h, L, D], or [B h, L, 1]: one for all D
  Doubles exact_exponents;  // as they would be without rounding; empty: as they are
  // Of features that can be negative, whose sums may cancel: the mantissa without rounding.
  std::function<Doubles()> exact_mantissa;
  double factor = 1;  // φ = factor * mantissa * exp(exponents)
};

// The output comes from running sums in O(L); weights are computed pair by pair only where they are
// wanted, or where sums of plain features leave the range of float32: see feature_weights.h; there
// also where weights are wanted and nearly cancel in a row's sum. A report has the "state".
OperationResult run_features(const OperationInput& input, const Features& q, const Features& k,
                             Backend& backend, const Wanted& wanted, const Stop& stop);

// Always pair by pair. InputError where there are too many pairs for that.
OperationResult run_weighed(const OperationInput& input, const Features& q, const Features& k,
                            Backend& backend, const Wanted& wanted, const Stop& stop);

// Whether more than the output is wanted.
bool is_reported(const Wanted& wanted);
// Adds "state" to the extras: Σ_j φ(k_j) ⊗ v_j over the keys that the last row sees, of the first
// item of a batch; a remark in its place where that is beyond float32.  [h, D, d_v]
void add_state(OperationResult& result, const OperationInput& input, const Features& k);

// Adds the features themselves, as "features.q" and "features.k" [h, L, D], of the first item of a
// batch; up to factors of a query, and one of all of a head's keys, where they are very large or
// small (these cancel in the ratio). Where there are few enough to be read, and float32 holds them.
void add_features(OperationResult& result, const Features& q, const Features& k, Index heads);

// Whether sums of feature products, where log_sum_exp has them, and the output kept their digits.
bool in_range(const OperationResult& result);

// The softmax over the same S_i that random features estimate, of scale * q·k.  [B h, L_q, L_k]
Tensor exact_attention(const OperationInput& input, const Var& q, const Var& k, double scale,
                       Backend& backend, const Stop& stop);

// sin(w_t·x s) and cos(w_t·x s) of every row of x and w, as exact_mantissa has them.
// x: [B h, L, d_k], w: [h, D, d_k].  [B h, L, 2 D]
Doubles exact_waves(const std::vector<double>& x, const Shape& shape, const Tensor& w, double s);

// Products of every row of x with every row of the random matrix of its head.
// x: [B h, L, d_k], w: [h, D, d_k].  [B h, L, D]
Var feature_products(const Var& x, const Var& w, Index heads);

// Variant::head_cost of features: sums and products with each of them, and what features are made
// of, `making` multiply-adds for each query and each key.
double feature_cost(const CostInput& in, Index features, Index making);

// How many random directions a head draws, by the letter of the paper.
Parameter features_parameter(const char* symbol);
// A weight for these directions, [h, D, d_k].
WeightInfo random_directions(const char* name);

}  // namespace attnscope
