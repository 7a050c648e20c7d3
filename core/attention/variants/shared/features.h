// Kernel attention: weights are ratios of feature products, a_ij = φ(q_i)·φ(k_j) / sum.
#pragma once

#include <functional>

#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/exact.h"

namespace attnscope {

// Features of queries or keys.
struct Features {
  Var plain;  // φ [B h, L, D], up to factors that cancel in the ratio
  // Factorisation as mantissa * exp(exponents), for products beyond float32. An undefined mantissa
  // means 1, undefined exponents 0; both are undefined if plain features suffice.
  Var mantissa;             // [B h, L, D]
  Var exponents;            // [B h, L, D], or [B h, L, 1] if all D features share one
  Doubles exact_exponents;  // exponents before rounding; empty: `exponents` are exact
  // Mantissa before rounding, for features that can be negative and whose sums may cancel.
  std::function<Doubles()> exact_mantissa;
  double factor = 1;  // φ = factor * mantissa * exp(exponents)
};

// Computes the output from running sums in O(L). Computes weights pair by pair (feature_weights.h)
// if sums of plain features leave the range of float32, or if weights are requested and products of
// opposite sign nearly cancel in a row's sum. Calls add_state() if wants_report().
OperationResult run_features(const OperationInput& input, const Features& q, const Features& k,
                             Backend& backend, const ResultRequest& wanted);

// Throws InputError if there are too many pairs to store a weight for each.
void check_pair_count(const OperationInput& input);
// Always computes weights pair by pair. Calls check_pair_count().
OperationResult run_pairwise(const OperationInput& input, const Features& q, const Features& k,
                             Backend& backend, const ResultRequest& wanted);

// Rotates features by position, after the feature map (Su et al., 2021, RoFormer, equation 19):
//   output_i = Σ_j (R_i φ(q_i))·(R_j φ(k_j)) v_j / Σ_j φ(q_i)·φ(k_j)
// The denominator is not rotated, so that it stays positive; weights may be negative and need not
// sum to 1. Both sums are running sums; weights are computed pair by pair if the denominators leave
// the range of float32. Calls add_state() and adds the rotated features, "features.rotated_q" and
// "features.rotated_k" [h, L, D], if wants_report(). Requires has_rotation().
OperationResult run_rotated(const OperationInput& input, const Features& q, const Features& k,
                            Backend& backend, const ResultRequest& wanted);

// True if more than the output is requested.
bool wants_report(const ResultRequest& wanted);
// Adds "state" [h, D, d_v] to the extras: Σ_j φ(k_j) ⊗ v_j over the keys visible to the last row of
// the first item of the batch. Adds a remark instead if the state exceeds float32.
void add_state(OperationResult& result, const OperationInput& input, const Features& k);

// Adds the features of the first item of a batch to the extras, as "features.q" and "features.k"
// [h, L, D]. Very large or small features are divided by factors that cancel in the ratio: one per
// query, and one for all keys of a head. Adds nothing if features are too many or not finite.
void add_features(OperationResult& result, const Features& q, const Features& k, Index heads);

// True if output and sums of feature products (log_sum_exp) are within the range of float32.
bool is_in_range(const OperationResult& result);

// Softmax of scale * q·k over S_i, to compare with random features.  [B h, L_q, L_k]
Tensor exact_attention(const OperationInput& input, const Var& q, const Var& k, double scale,
                       Backend& backend);

// sin(w_t·x s) and cos(w_t·x s) of every row of x and w, for exact_mantissa.
// x: [B h, L, d_k], w: [h, D, d_k].  [B h, L, 2 D]
Doubles exact_waves(const std::vector<double>& x, const Shape& shape, const Tensor& w, double s);

// Products of every row of x with every row of the random matrix of its head.
// x: [B h, L, d_k], w: [h, D, d_k].  [B h, L, D]
Var feature_products(const Var& x, const Var& w, Index heads);

// VariantCost::head of kernel attention, from the number of features and the multiply-adds that
// compute the features of one query or key.
double feature_cost(const CostInput& in, Index features, Index multiply_adds);

// Parameter "features": number of random directions per head. symbol: its symbol in the paper.
Parameter features_parameter(const char* symbol);
// Optional weight with the random directions, [h, D, d_k].
WeightInfo random_directions(const char* name);

}  // namespace attnscope
