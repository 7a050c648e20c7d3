// Llama (Touvron et al., 2023): matrices [out, in], RoPE in the half style,
// grouped-query attention, RMS norm, SwiGLU.
#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

DecoderLayout read_llama(JsonObject& object) {
  ModelConfig config = decoder_sizes(object);
  config.attention_biases = object.flag_or("attention_bias", false);
  config.feed_forward_biases = object.flag_or("mlp_bias", false);
  config.groups = uniform_groups(config, default_variant(), hugging_face_rope(object, config));
  return {config, {}};
}

}  // namespace

CheckpointFormat llama_format() {
  return decoder_format("llama", read_llama);
}

}  // namespace attnscope
