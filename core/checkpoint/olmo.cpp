// OLMo (arXiv:2402.00838): Llama with layer norms without weights. OLMo 2 (arXiv:2501.00656): norms
// after blocks instead of before, and norms of the whole query and key projections. OLMo 3: OLMo 2
// with a window in three of four layers.
#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

DecoderLayout read_olmo(JsonObject& object) {
  ModelConfig config = decoder_sizes(object);
  config.norm = Norm::LayerNorm;
  config.norm_epsilon = 1e-5;
  config.model_options.norm_biases = false;
  config.attention_biases = object.flag_or("attention_bias", false);
  if (object.has("clip_qkv")) {
    object.fail("clip_qkv", "nothing (clipping of q, k and v is not supported)");
  }
  config.groups = uniform_groups(config, default_variant(), hugging_face_rope(object, config));
  DecoderNames names;
  names.has_gains = false;
  return {config, names};
}

DecoderLayout olmo2_layout(JsonObject& object) {
  SizeNames sizes;
  sizes.default_epsilon = 1e-5;
  ModelConfig config = decoder_sizes(object, sizes);
  config.attention_biases = object.flag_or("attention_bias", false);
  config.model_options.output_norm = OutputNorm::Instead;
  config.model_options.query_key_norm = QueryKeyNorm::Projection;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  DecoderNames names;
  names.attn_output_norm = "post_attention_layernorm";
  names.ffn_output_norm = "post_feedforward_layernorm";
  return {config, names};
}

DecoderLayout read_olmo2(JsonObject& object) {
  DecoderLayout layout = olmo2_layout(object);
  const Choice rope = hugging_face_rope(object, layout.config);
  layout.config.groups = uniform_groups(layout.config, default_variant(), rope);
  return layout;
}

// RoPE scaling applies only to layers with full attention.
DecoderLayout read_olmo3(JsonObject& object) {
  DecoderLayout layout = olmo2_layout(object);
  ModelConfig& config = layout.config;
  const Index window = object.integer_or("sliding_window", 4096, 1, kMaxModelTokens);
  const std::vector<bool> slides =
      sliding_layers(object, config, [](Index layer, Index) { return (layer + 1) % 4 != 0; });
  RopeSettings full;
  full.base = object.number_or("rope_theta", 500000, 1e-3, 1e18);
  RopeSettings sliding = full;
  full.layer_type = "full_attention";
  sliding.layer_type = "sliding_attention";
  sliding.scaled = false;
  set_groups(config, slides, window_variant(window), hugging_face_rope(object, config, full),
             hugging_face_rope(object, config, sliding));
  return layout;
}

}  // namespace

CheckpointFormat olmo_format() {
  return decoder_format("olmo", read_olmo);
}

CheckpointFormat olmo2_format() {
  return decoder_format("olmo2", read_olmo2);
}

CheckpointFormat olmo3_format() {
  return decoder_format("olmo3", read_olmo3);
}

}  // namespace attnscope
