#include "core/analysis/encoded.h"

#include <cmath>

#include "core/model/config.h"
#include "core/position/positions.h"

namespace attnscope {
namespace {

EncodingContext context_of(const EncodingUse& use) {
  return {.values = use.encoding.values,
          .weights = use.weights,
          .dimensions = use.dimensions,
          .causal = use.causal,
          .scale = std::nullopt};
}

}  // namespace

Choice encoding_of(const AttentionTap& tap) {
  Choice choice = tap.encoding;
  if (encoding(choice.id).uses_step && tap.address.step > 0) {
    choice.values.set("step", tap.address.step);
  }
  return choice;
}

EncodingUse encoding_use(const AttentionTap& tap, Index model) {
  EncodingUse use{.encoding = encoding_of(tap),
                  .weights = tap.encoding_weights,
                  .dimensions = {},
                  .causal = tap.causal};
  use.dimensions.model = model;
  use.dimensions.heads = static_cast<Index>(tap.heads.size());
  const HeadTensors<Shape>& shapes = tap.shapes().input;
  if (!shapes.q.empty()) use.dimensions.key = shapes.q[2];
  if (!shapes.k.empty()) use.dimensions.kv_heads = shapes.k[0];
  return use;
}

EncodingUse encoding_use(const AttentionTap& tap, const ModelConfig& config) {
  const bool is_of_input = is_added_to_input(tap.encoding);
  return encoding_use(tap, is_of_input ? table_width(config) : config.width);
}

Part encoded_part(const EncodingUse& use, const Tensor& q, const Tensor& k,
                  std::vector<std::int32_t> pos_q, std::vector<std::int32_t> pos_k) {
  Part part;
  part.heads = q.dim(0);
  part.q = q;
  part.k = k;
  part.pos_q = std::move(pos_q);
  part.pos_k = std::move(pos_k);
  part.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(q.dim(2))));
  part.pattern = std::make_shared<const Pattern>(Pattern::all(q.dim(1), k.dim(1)));
  const Encoding& e = encoding(use.encoding.id);
  if (e.apply) e.apply(part, context_of(use));
  return part;
}

Tensor position_vectors(const EncodingUse& use, Index count) {
  const Var zero_input = Tensor::zeros({1, count, use.dimensions.model});
  const Var vectors = encoding(use.encoding.id)
                          .embed(zero_input, first_positions(count), context_of(use));  // [1, L, d]
  return vectors.value().reshaped({count, use.dimensions.model});
}

}  // namespace attnscope
