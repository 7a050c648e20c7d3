// Granite 3 (IBM, 2024): Llama with scale factors of the embedding, the scores, the block outputs
// and the logits.
#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

DecoderLayout read_granite(JsonObject& object) {
  ModelConfig config = decoder_sizes(object);
  config.attention_biases = object.flag_or("attention_bias", false);
  config.feed_forward_biases = object.flag_or("mlp_bias", false);
  ModelOptions& options = config.model_options;
  options.embedding_scale = object.number_or("embedding_multiplier", 1, -1e6, 1e6);
  options.attention_scale = object.number_or("attention_multiplier", 1, 0, 1e6);
  options.residual_scale = object.number_or("residual_multiplier", 1, -1e6, 1e6);
  options.logit_scale = 1 / object.number_or("logits_scaling", 1, 1e-6, 1e6);
  config.groups = uniform_groups(config, default_variant(), hugging_face_rope(object, config));
  return {config, {}};
}

}  // namespace

CheckpointFormat granite_format() {
  return decoder_format("granite", read_granite);
}

}  // namespace attnscope
