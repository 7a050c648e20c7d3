// Phi 1 to 2 (Gunasekar et al., 2023, arXiv:2306.11644): parallel attention and feed-forward blocks
// after one layer norm, partial RoPE, biases everywhere. Phi 3 (arXiv:2404.14219): Llama with
// LongRoPE and fused matrices: one for q, k and v, one for gate and in.
#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

DecoderLayout read_phi(JsonObject& object) {
  SizeNames sizes;
  sizes.epsilon = "layer_norm_eps";
  sizes.default_epsilon = 1e-5;
  sizes.default_activation = "gelu_new";
  ModelConfig config = layer_norm_sizes(object, sizes);
  config.head.bias = true;
  config.model_options.parallel = config.model_options.shared_norm = true;
  if (object.flag_or("qk_layernorm", false)) {
    config.model_options.query_key_norm = QueryKeyNorm::Head;
  }
  RopeSettings settings;
  settings.share = 0.5;
  settings.partial = true;
  config.groups =
      uniform_groups(config, default_variant(), hugging_face_rope(object, config, settings));
  DecoderNames names;
  names.final_norm = "final_layernorm";
  names.o = "self_attn.dense";
  names.q_norm = "self_attn.q_layernorm";
  names.k_norm = "self_attn.k_layernorm";
  names.in = "mlp.fc1";
  names.out = "mlp.fc2";
  return {config, names};
}

DecoderLayout read_phi3(JsonObject& object) {
  SizeNames sizes;
  sizes.default_context = 4096;
  sizes.default_epsilon = 1e-5;
  ModelConfig config = decoder_sizes(object, sizes);
  const Choice window = configured_window_variant(object);
  RopeSettings settings;
  settings.partial = true;
  config.groups = uniform_groups(config, window, hugging_face_rope(object, config, settings));
  DecoderNames names;
  names.qkv = "self_attn.qkv_proj";
  names.gate_in = "mlp.gate_up_proj";
  return {config, names};
}

}  // namespace

CheckpointFormat phi_format() {
  return decoder_format("phi", read_phi);
}

CheckpointFormat phi3_format() {
  return decoder_format("phi3", read_phi3);
}

}  // namespace attnscope
