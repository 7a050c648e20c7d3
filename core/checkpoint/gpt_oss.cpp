// gpt-oss (OpenAI, 2025, arXiv:2508.10925): attention sinks, a window in every other layer, YaRN, a
// mixture of experts with clamped SwiGLU. Its quantised 4-bit weights are supported in GGUF files
// only.
#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

DecoderLayout read_gpt_oss(JsonObject& object) {
  SizeNames sizes;
  sizes.default_context = 131072;
  sizes.default_epsilon = 1e-5;
  ModelConfig config = decoder_sizes(object, sizes);
  if (!object.has("head_dim")) config.head_size = 64;
  if (config.activation != Activation::Silu) object.fail("hidden_act", "\"silu\"");
  if (object.number_or("swiglu_alpha", 1.702, 0, 1e6) != 1.702) {
    object.fail("swiglu_alpha", "1.702 (nothing else is supported)");
  }
  config.activation = Activation::QuickGelu;  // x sigmoid(1.702 x)
  config.attention_biases = object.flag_or("attention_bias", true);
  config.feed_forward_biases = true;
  ModelOptions& options = config.model_options;
  options.attention_sinks = true;
  options.gate_limit = object.number_or("swiglu_limit", 7, 1e-6, 1e6);
  options.gate_offset = 1;
  options.experts.count = object.integer_or("num_local_experts", 128, 1, 4096);
  options.experts.chosen = object.integer_or("num_experts_per_tok", 4, 1, 4096);
  options.experts.router_bias = true;
  const Index window = object.integer_or("sliding_window", 128, 1, kMaxModelTokens);
  const std::vector<bool> slides =
      sliding_layers(object, config, [](Index layer, Index) { return layer % 2 == 0; });
  RopeSettings settings;
  settings.base = 150000;
  set_groups(config, slides, window_variant(window), hugging_face_rope(object, config, settings));
  DecoderNames names;
  names.router = "mlp.router";
  names.fused_experts = names.experts = "mlp.experts.";
  names.expert_gate = "gate_proj";
  names.expert_in = "up_proj";
  names.expert_out = "down_proj";
  return {config, names};
}

}  // namespace

CheckpointFormat gpt_oss_format() {
  return decoder_format("gpt_oss", read_gpt_oss);
}

}  // namespace attnscope
