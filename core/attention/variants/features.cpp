#include "core/attention/variants/features.h"

#include <algorithm>
#include <cmath>

#include "core/attention/variants/feature_weights.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"

namespace attnscope {

namespace {

// Sums of a row within these leave room for what is smaller, and for a sum's products with values.
constexpr float kLeastSum = 1e-24f, kMostSum = 1e30f;
// Weights that are computed pair by pair are all kept: 1 GiB.
constexpr Index kMostWeights = Index{1} << 28;

bool in_range(const OperationResult& result) {
  const Tensor& sums = result.log_sum_exp;
  const Tensor& output = result.output.value();
  return std::all_of(
             sums.begin(), sums.end(),
             [](float sum) { return std::abs(sum) >= kLeastSum && std::abs(sum) <= kMostSum; }) &&
         std::all_of(output.begin(), output.end(), [](float x) { return std::isfinite(x); });
}

// The weights as given numbers that need no normaliser.
Part weighed_part(Part part, const Features& q, const Features& k, const Stop& stop) {
  const Index weights = part.batch * part.heads * part.queries() * part.keys();
  if (weights > kMostWeights) {
    throw InputError("q: features beyond the range of float32, which takes " +
                     std::to_string(weights) + " weights in memory; expected at most " +
                     std::to_string(kMostWeights) + ", or smaller queries and keys");
  }
  part.logits = feature_weights(q, k, part.pattern, part.heads, stop);  // [B h, L_q, L_k]
  part.source = Source::Logits;
  part.normaliser = Normaliser::None;
  part.q = part.k = Var();
  return part;
}

}  // namespace

OperationResult run_features(const OperationInput& input, const Features& q, const Features& k,
                             Backend& backend, const Wanted& wanted, const Stop& stop) {
  Part part = plain_part(input, plain_pattern(input, input.causal));
  part.normaliser = Normaliser::FeatureRatio;
  part.q = q.plain;
  part.k = k.plain;
  part.v = repeat_heads(input.v, input.heads, input.kv_heads);
  part.scale = 1;
  part.split.clear();
  Wanted with_sums = wanted;
  with_sums.log_sum_exp = true;
  OperationResult result = run_part(part, backend, with_sums, stop);
  const bool has_exponents = q.exponents.defined() || k.exponents.defined();
  if (!has_exponents || in_range(result)) {
    if (!wanted.log_sum_exp) result.log_sum_exp = Tensor();
    return result;
  }
  return run_part(weighed_part(std::move(part), q, k, stop), backend, wanted, stop);
}

Tensor exact_attention(const OperationInput& input, const Var& q, const Var& k, double scale,
                       Backend& backend, const Stop& stop) {
  Part part = plain_part(input, plain_pattern(input, input.causal));
  part.q = q;
  part.k = k;
  part.scale = static_cast<float>(scale);
  part.v = repeat_heads(input.v, input.heads, input.kv_heads);
  part.split.clear();
  return run_part(std::move(part), backend, {.attention = true}, stop).attention;
}

Var feature_products(const Var& x, const Var& w, Index heads) {
  const std::vector<Var> copies(static_cast<std::size_t>(x.dim(0) / heads), w);
  return matmul_transposed(x, copies.size() == 1 ? w : concat(copies, 0));
}

Parameter features_parameter(const char* symbol) {
  return {.key = "features",
          .symbol = symbol,
          .label = "Features",
          .help = "How many random directions are drawn.",
          .required = true,
          .initial = Index{64},
          .least = 1,
          .most = 1048576,
          .slider_least = 1,
          .slider_most = 512};
}

WeightInfo random_directions(const char* name) {
  return {.name = name,
          .help = "The random directions of each head, in place of drawn ones.",
          .shape = [](const Dimensions& n, const Values& values) -> Shape {
            return {n.heads, values.integer("features"), n.key};
          },
          .optional = true,
          .constant = true};
}

}  // namespace attnscope
