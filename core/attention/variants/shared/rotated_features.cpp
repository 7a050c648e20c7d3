// Features rotated after the feature map (Su et al., 2021, RoFormer, equation 19).
#include <algorithm>
#include <cmath>

#include "core/attention/attention_operation.h"
#include "core/attention/variants/shared/feature_weights.h"
#include "core/attention/variants/shared/features.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"

namespace attnscope {
namespace {

// Limits of denominators within which all products of features fit float32.
constexpr float kMinDenominator = 1e-24f, kMaxDenominator = 1e30f;

// Part whose weights are the products q·k, without scale and normalisation.
Part sum_part(const OperationInput& input, const Var& q, const Var& k, const Var& v) {
  Part part = plain_part(input, plain_pattern(input, input.causal));
  part.q = q;
  part.k = k;
  part.v = v;
  part.scale = 1;
  part.split.clear();
  part.pos_q.clear();
  part.pos_k.clear();
  part.normaliser = Normaliser::None;
  return part;
}

// Σ_j φ(q_i)·φ(k_j) over S_i.  [B h, L_q, 1]
Var denominators(const OperationInput& input, const Features& q, const Features& k,
                 Backend& backend) {
  const Var ones(Tensor::full({k.plain.dim(0), k.plain.dim(1), 1}, 1.0f));
  return run_part(sum_part(input, q.plain, k.plain, ones), backend, {.output = true}).output;
}

bool is_in_range(const Tensor& sums) {
  return std::all_of(sums.begin(), sums.end(),
                     [](float x) { return x >= kMinDenominator && x <= kMaxDenominator; });
}

// Features divided by the largest exponential of their row. The division cancels in the ratio of
// two products of the same rows.
Var scaled_rows(const Features& features) {
  const Tensor& exponents = features.exponents.value();  // [B h, L, D]
  const Index size = exponents.dim(2);
  Tensor maxima({exponents.dim(0), exponents.dim(1), 1});
  for (Index row = 0; row < maxima.size(); ++row) {
    const float* numbers = exponents.data() + row * size;
    maxima[row] = *std::max_element(numbers, numbers + size);
  }
  return multiply(features.mantissa, exp(subtract(features.exponents, Var(maxima))));
}

// Exact weights of unrotated features, multiplied by the ratio of rotated and unrotated products.
OperationResult run_rotated_pairwise(const OperationInput& input, const Features& q,
                                     const Features& k, Backend& backend,
                                     const ResultRequest& wanted) {
  Part part = sum_part(input, Var(), Var(), repeat_heads(input.v, input.heads, input.kv_heads));
  const Var q_rows = scaled_rows(q), k_rows = scaled_rows(k);
  const Var rotated = matmul_transposed(rotate_queries(input, q_rows), rotate_keys(input, k_rows));
  const Var ratios = divide(rotated, matmul_transposed(q_rows, k_rows));  // [B h, L_q, L_k]
  part.logits = multiply(feature_weights(q, k, part.pattern, part.heads), ratios);
  part.source = Source::Logits;
  return run_part(std::move(part), backend, wanted);
}

}  // namespace

OperationResult run_rotated(const OperationInput& input, const Features& q, const Features& k,
                            Backend& backend, const ResultRequest& wanted) {
  const Var rotated_q = rotate_queries(input, q.plain), rotated_k = rotate_keys(input, k.plain);
  const Var sums = denominators(input, q, k, backend);
  OperationResult result;
  if (is_in_range(sums.value())) {
    result = run_part(sum_part(input, divide(rotated_q, sums), rotated_k,
                               repeat_heads(input.v, input.heads, input.kv_heads)),
                      backend, wanted);
  } else {
    check_pair_count(input);
    result = run_rotated_pairwise(input, q, k, backend, wanted);
  }
  if (!wants_report(wanted)) return result;
  Features rotated;
  rotated.plain = rotated.mantissa = rotated_k;
  add_state(result, input, rotated);
  result.extra["features.rotated_q"] = rotated_q.value().slice(0, input.heads);
  result.extra["features.rotated_k"] = rotated_k.value().slice(0, input.heads);
  return result;
}

}  // namespace attnscope
