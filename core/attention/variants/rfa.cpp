// rfa: random Fourier features of unit vectors. Peng et al., 2021.
#include <cmath>

#include "core/attention/variants/drawn.h"
#include "core/attention/variants/exact.h"
#include "core/attention/variants/features.h"
#include "core/attention/variants/list.h"
#include "core/attention/variants/rows.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {

namespace {

Var random_matrix(const OperationInput& input) {
  if (const Var* given = find_weight(input.weights, "rfa.w")) return *given;
  const Values& values = input.variant.values;
  return drawn_for_heads(input, "rfa.w", {input.heads, values.integer("features"), input.q.dim(2)},
                         0, 1 / values.real("sigma"),
                         static_cast<std::uint64_t>(values.integer("seed")));
}

// Of rows that are scaled to unit length: sqrt(1/D) [sin(w x), cos(w x)].  [B h, L, 2 D]
Features fourier_features(const Var& x, const Var& unit, const Var& w, Index heads) {
  const Var angles = feature_products(unit, w, heads);  // [B h, L, D]
  const auto norm = static_cast<float>(1 / std::sqrt(static_cast<double>(w.dim(1))));
  Features features;
  features.mantissa = concat({sine(angles), cosine(angles)}, 2);
  features.plain = scale(features.mantissa, norm);
  features.exact_mantissa = [x = x.value(), w = w.value()] {
    const Index rows = x.dim(0) * x.dim(1);
    return exact_waves(exact_unit_rows(x.data(), rows, x.dim(2)), x.shape(), w, 1);
  };
  return features;
}

OperationResult evaluate_rfa(const OperationInput& input, Backend& backend, const Wanted& wanted,
                             const Stop& stop) {
  const Var q = unit_rows(input.q);
  const Var keys = repeat_heads(input.k, input.heads, input.kv_heads);
  const Var k = unit_rows(keys);
  const Var w = random_matrix(input);
  OperationResult result =
      run_features(input, fourier_features(input.q, q, w, input.heads),
                   fourier_features(keys, k, w, input.heads), backend, wanted, stop);
  if (wanted.attention) {
    const double sigma = input.variant.values.real("sigma");
    result.extra["exact"] = exact_attention(input, q, k, 1 / (sigma * sigma), backend, stop);
  }
  return result;
}

}  // namespace

Variant rfa_variant() {
  Variant v;
  v.id = "rfa";
  v.label = "Random features (RFA)";
  v.group = "Low rank and kernels";
  v.equation =
      "aᵢⱼ ≈ softmax(q̂ᵢ·k̂ⱼ/σ²),   φ(x) = √(1/D) [sin(w₁·x) … sin(w_D·x), cos(w₁·x) … cos(w_D·x)]";
  v.summary =
      "Queries and keys are scaled to unit length, where the exponential of their product is a "
      "Gaussian kernel; random sines and cosines estimate it, so that the softmax turns into "
      "running sums. More features estimate better; the exact softmax is shown for comparison.";
  v.source = "Peng et al., 2021, Random feature attention, arXiv:2103.02143";
  v.cost = "O(L·D·d)";
  v.incremental = true;
  v.cross = true;
  v.takes_pairs = v.has_terms = v.has_scores = never;
  v.parameters = {features_parameter("D"),
                  {.key = "sigma",
                   .symbol = "σ",
                   .label = "Sigma",
                   .help = "Width of the kernel; smaller is sharper.",
                   .kind = Parameter::Kind::Real,
                   .initial = 1.0,
                   .least = 0,
                   .most = Parameter::kMostReal,
                   .least_excluded = true,
                   .slider_least = 0.2,
                   .slider_most = 4},
                  seed_parameter()};
  v.weights = {random_directions("rfa.w")};
  v.evaluate = evaluate_rfa;
  return v;
}

}  // namespace attnscope
