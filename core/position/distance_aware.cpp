// distance_aware: positive content scores sharpened or faded by distance. Wu et al., 2020.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_shape.h"
#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/shown.h"
#include "core/position/slopes.h"

namespace attnscope {

namespace {

WeightInfo per_head(const char* name, const char* help, Shown shown) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.heads}; },
          .initial = initial_zeros(),
          .shown = std::move(shown)};
}

// Heads that look near, the first ones nearest.
Tensor near_heads(const Shape& shape, const Situation&, const Values&) {
  const std::vector<double> slopes = default_slopes(shape[0]);
  Tensor alpha(shape);  // [h]
  for (Index head = 0; head < shape[0]; ++head) {
    alpha[head] = -static_cast<float>(slopes[static_cast<std::size_t>(head)]);
  }
  return alpha;
}

Tensor wide_starts(const Shape& shape, const Situation&, const Values&) {
  return Tensor::full(shape, 2);
}

// f = (1 + exp β) / (1 + exp(β − α |o|)) for distances 0 .. most.  [h, most + 1]
// As exp(softplus(β) − softplus(β − α |o|)) nothing overflows on the way.
Var factors(const Var& alpha, const Var& beta, Index most) {
  Tensor distances({1, most + 1});
  for (Index n = 0; n <= most; ++n) distances[n] = static_cast<float>(n);
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
      "The raw distance, weighted by a number α of each head, is passed through a sigmoid that "
      "starts at 1 and levels off at 1 + e^β, and multiplies the content scores, of which only "
      "positive ones remain. A positive α makes a head far-sighted, a negative one near-sighted.";
  e.source = "Wu, Wu and Huang, 2020, DA-Transformer, arXiv:2010.06925";
  e.cost = "O(1) for a pair, and 2h weights";
  e.weights = {per_head("pos.alpha", "How much a head minds the distance, and in which direction.",
                        near_heads),
               per_head("pos.beta", "How far the factor can rise.", wide_starts)};
  e.apply = [](Part& part, const EncodingContext& context) {
    const Index most = offset_range(part).farthest();
    part.relu = true;
    part.factor = OffsetTable{
        factors(weight(context.weights, "pos.alpha"), weight(context.weights, "pos.beta"), most),
        distance_index(most), Term::Factor};
  };
  return e;
}

}  // namespace attnscope
