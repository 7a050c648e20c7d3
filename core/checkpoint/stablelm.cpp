// StableLM (Stability AI, 2023): Llama with layer norms and partial RoPE.
#include "core/checkpoint/decoder_layout.h"
#include "core/checkpoint/hugging_face.h"

namespace attnscope {
namespace {

DecoderLayout read_stablelm(JsonObject& object) {
  SizeNames sizes;
  sizes.default_context = 4096;
  sizes.epsilon = "layer_norm_eps";
  sizes.default_epsilon = 1e-5;
  ModelConfig config = decoder_sizes(object, sizes);
  config.norm = Norm::LayerNorm;
  config.attention_biases = object.flag_or("use_qkv_bias", false);
  config.model_options.attention_output_bias = false;
  require_flag(object, "qk_layernorm", false);
  config.model_options.parallel = config.model_options.shared_norm =
      object.flag_or("use_parallel_residual", false);
  RopeSettings settings;
  settings.share = 0.25;
  settings.partial = true;
  config.groups =
      uniform_groups(config, default_variant(), hugging_face_rope(object, config, settings));
  return {config, {}};
}

}  // namespace

CheckpointFormat stablelm_format() {
  return decoder_format("stablelm", read_stablelm);
}

}  // namespace attnscope
