#include "core/attention/variants/features.h"

#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {

OperationResult run_features(const OperationInput& input, const Var& q_features,
                             const Var& k_features, Backend& backend, const Wanted& wanted,
                             const Stop& stop) {
  Part part = plain_part(input, plain_pattern(input, input.causal));
  part.normaliser = Normaliser::FeatureRatio;
  part.q = q_features;
  part.k = k_features;
  part.v = repeat_heads(input.v, input.heads, input.kv_heads);
  part.scale = 1;
  part.split.clear();
  return run_part(std::move(part), backend, wanted, stop);
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
