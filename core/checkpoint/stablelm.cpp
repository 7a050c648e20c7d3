// StableLM (Stability AI, 2023): Llama with layer norms and RoPE of a part of each head.
#include "core/checkpoint/decoder_layout.h"
#include "core/checkpoint/hugging_face.h"

namespace attnscope {

namespace {

DecoderLayout read_stablelm(JsonObject& object) {
  SizeNames sizes;
  sizes.usual_context = 4096;
  sizes.epsilon = "layer_norm_eps";
  sizes.usual_epsilon = 1e-5;
  ModelConfig config = decoder_sizes(object, sizes);
  config.norm = Norm::LayerNorm;
  config.attention_biases = object.flag_or("use_qkv_bias", false);
  config.ingredients.attention_output_bias = false;
  require_flag(object, "qk_layernorm", false);
  config.ingredients.parallel = config.ingredients.shared_norm =
      object.flag_or("use_parallel_residual", false);
  RopeSettings settings;
  settings.share = 0.25;
  config.groups =
      uniform_groups(config, default_variant(), hugging_face_rope(object, config, settings));
  return {config, {}};
}

}  // namespace

CheckpointFormat stablelm_format() {
  return decoder_format("stablelm", read_stablelm);
}

}  // namespace attnscope
