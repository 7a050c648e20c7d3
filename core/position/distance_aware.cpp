// distance_aware: positive content scores scaled by distance. Wu et al., 2020.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_shape.h"
#include "core/position/illustrative_weights.h"
#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/slopes.h"

namespace attnscope {
namespace {

WeightInfo head_weight(const char* name, const char* help, IllustrativeWeights illustrative) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.heads}; },
          .initial = initial_zeros(),
          .illustrative = std::move(illustrative)};
}

// Negative α, so that all heads prefer near keys. The first heads prefer near keys most.
Tensor negative_alphas(const Shape& shape, const Situation&, const Values&) {
  const std::vector<double> slopes = default_slopes(shape[0]);
  Tensor alpha(shape);  // [h]
  for (Index head = 0; head < shape[0]; ++head) {
    alpha[head] = -static_cast<float>(slopes[static_cast<std::size_t>(head)]);
  }
  return alpha;
}

Tensor large_betas(const Shape& shape, const Situation&, const Values&) {
  return Tensor::full(shape, 2);
}

// f = (1 + exp β) / (1 + exp(β − α |o|)) for |o| = 0 .. max_distance: [h, max_distance + 1].
// Computed as exp(softplus(β) − softplus(β − α |o|)), which does not overflow.
Var factors(const Var& alpha, const Var& beta, Index max_distance) {
  Tensor distances({1, max_distance + 1});
  for (Index n = 0; n <= max_distance; ++n) distances[n] = static_cast<float>(n);
  const Index heads = alpha.dim(0);
  const Var a = reshape(alpha, {heads, 1}), b = reshape(beta, {heads, 1});
  return exp(subtract(softplus(b), softplus(subtract(b, multiply(a, distances)))));
}

}  // namespace

Encoding distance_aware_encoding() {
  Encoding e;
  e.id = "distance_aware";
  e.label = "Distance-aware (DA)";
  e.group = "Factor by distance";
  e.equation = "sᵢⱼ = ReLU(qᵢ·kⱼ) / √d_k · f(α_a·|i − j|),   f(R) = (1 + e^β) / (1 + e^(β − R))";
  e.summary =
      "The raw distance, weighted by a learned α per head, passes through a sigmoid that is 1 at "
      "distance 0. It multiplies the content scores, of which a ReLU keeps only the positive ones. "
      "A positive α favours distant keys: the factor levels off at 1 + e^β. A negative one favours "
      "nearby keys: the factor falls to 0, where all scores are 0 and far keys are equal, not "
      "hidden.";
  e.source = "Wu, Wu and Huang, 2020, DA-Transformer, arXiv:2010.06925";
  e.complexity = "O(1) per pair, and 2h weights";
  e.weights = {
      head_weight("pos.alpha", "Weight of the distance; positive: distant keys count more.",
                  negative_alphas),
      head_weight("pos.beta", "Sets the upper limit 1 + e^β of the factor.", large_betas)};
  e.apply = [](Part& part, const EncodingContext& context) {
    const Index max_distance = offset_range(part).farthest();
    part.relu = true;
    part.factor = OffsetTable{factors(weight(context.weights, "pos.alpha"),
                                      weight(context.weights, "pos.beta"), max_distance),
                              distance_index(max_distance), Term::Factor};
  };
  return e;
}

}  // namespace attnscope
