#include "core/model/contrastive_loss.h"

#include <algorithm>
#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/model/config.h"
#include "core/model/global_tokens.h"
#include "core/model/layer_stack.h"
#include "core/model/pass.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

// A masked segment: `length` tokens of sequence `item` from `first`.
struct MaskedSegment {
  Index item, global, first, length;
};

// Every second segment of every sequence; none if a segment has no tokens.
std::vector<MaskedSegment> masked_segments(Index items, Index length, Index globals) {
  const Index segment_length = (length - globals) / globals;
  std::vector<MaskedSegment> segments;
  for (Index b = 0; b < items && segment_length > 0; ++b) {
    for (Index g = b % 2; g < globals; g += 2) {
      segments.push_back({b, g, globals + g * segment_length, segment_length});
    }
  }
  return segments;
}

// Ids before masking: targets are the ids of masked tokens.
IntTensor original_ids(const Batch& batch) {
  IntTensor ids(batch.ids.shape());
  for (Index n = 0; n < ids.size(); ++n) {
    ids[n] = batch.targets[n] >= 0 ? batch.targets[n] : batch.ids[n];
  }
  return ids;
}

// Added to the scores [K, K]: excludes segments of other global tokens.
Tensor same_global_only(const std::vector<MaskedSegment>& segments) {
  constexpr float kExcluded = -1e9f;
  const auto count = static_cast<Index>(segments.size());
  Tensor bias = Tensor::zeros({count, count});
  for (Index k = 0; k < count; ++k) {
    for (Index j = 0; j < count; ++j) {
      if (segments[static_cast<std::size_t>(k)].global !=
          segments[static_cast<std::size_t>(j)].global) {
        bias(k, j) = kExcluded;
      }
    }
  }
  return bias;
}

// Final states of the rows `states` of a run on `ids` [B, L].  [states, d]
Var final_states(const Pass& pass, const IntTensor& ids, const IntTensor& states) {
  ForwardOptions options = pass.options();
  options.trace = nullptr;
  options.probe = {};
  options.progress = nullptr;
  options.adapted = nullptr;
  Pass another(pass.model(), options, ids.dim(0));
  const ModelConfig& config = pass.config();
  const LayerStack stack = layer_stack("", config.groups, {}, config.causal, [&](Index layer) {
    return weights_of_layer(config, layer);
  });
  const Var x = another.dropout(another.embed(ids, ""));
  return gather(another.final_norm(run_layers(another, stack, x), ""), states);
}

}  // namespace

double contrastive_weight(const ModelConfig& config) {
  const Values& values = config.input.values;
  return global_tokens(config) > 0 && values.has("contrastive") ? values.real("contrastive") : 0;
}

double contrastive_tokens(const ModelConfig& config, Index length) {
  if (!(contrastive_weight(config) > 0)) return 0;
  const Index globals = global_tokens(config);
  double tokens = static_cast<double>(length);
  for (const MaskedSegment& segment : masked_segments(1, length, globals)) {
    tokens += static_cast<double>(globals + segment.length);
  }
  return tokens / static_cast<double>(length);
}

std::string contrastive_refusal(const ModelConfig& config) {
  if (!(contrastive_weight(config) > 0)) return "";
  if (!is_masked_model(config)) {
    return "input.contrastive: expected architecture.masked above 0 (the loss masks segments), "
           "found 0";
  }
  if (config.exits) return "input.contrastive: expected no exits, found an exit rule";
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      if (!group.variant.values.has("segments")) continue;
      return "input.contrastive: expected no list of segments in the variant, whose length is that "
             "of the whole text, found one";
    }
  }
  return "";
}

void add_contrastive_loss(const Pass& pass, const Batch& batch, Output& output) {
  const ModelConfig& config = pass.config();
  const double weight = contrastive_weight(config);
  if (!(weight > 0)) return;
  const std::int32_t mask = mask_id(config);
  if (mask < 0) {
    throw InputError(
        "architecture.mask: expected the id of a mask token for input.contrastive, "
        "found none");
  }
  const Index items = batch.ids.dim(0), length = batch.ids.dim(1), globals = global_tokens(config);
  const std::vector<MaskedSegment> segments = masked_segments(items, length, globals);
  if (segments.empty()) {
    output.losses.push_back(weighted_loss("contrastive", Var(Tensor::zeros({})), weight));
    return;
  }
  const auto count = static_cast<Index>(segments.size());
  const Index alone_length = globals + segments[0].length;
  IntTensor masked = original_ids(batch), alone({count, alone_length});
  IntTensor masked_rows({count}), alone_rows({count}), same({count});
  for (Index n = 0; n < count; ++n) {
    const MaskedSegment& segment = segments[static_cast<std::size_t>(n)];
    std::int32_t* text = masked.data() + segment.item * length;
    std::int32_t* copy = std::copy_n(text, globals, alone.data() + n * alone_length);
    std::copy_n(text + segment.first, segment.length, copy);
    std::fill_n(text + segment.first, segment.length, mask);
    masked_rows[n] = static_cast<std::int32_t>(segment.item * length + segment.global);
    alone_rows[n] = static_cast<std::int32_t>(n * alone_length + segment.global);
    same[n] = static_cast<std::int32_t>(n);
  }
  const Var z = final_states(pass, masked, masked_rows);
  const Var t = final_states(pass, alone, alone_rows);
  const auto scaling = static_cast<float>(1 / std::sqrt(static_cast<double>(config.width)));
  const Var scores = scale(matmul_transposed(z, t), scaling);
  const Var loss = cross_entropy(add(scores, Var(same_global_only(segments))), same);
  output.losses.push_back(weighted_loss("contrastive", loss, weight));
}

}  // namespace attnscope
