// Command R (Cohere, 2024): parallel attention and feed-forward blocks after one layer norm without
// bias, interleaved RoPE, scaled logits.
#include "core/checkpoint/decoder_layout.h"
#include "core/checkpoint/hugging_face.h"

namespace attnscope {
namespace {

DecoderLayout read_cohere(JsonObject& object) {
  SizeNames sizes;
  sizes.default_context = 8192;
  sizes.epsilon = "layer_norm_eps";
  sizes.default_epsilon = 1e-5;
  sizes.tied_by_default = true;
  ModelConfig config = decoder_sizes(object, sizes);
  config.norm = Norm::LayerNorm;
  config.attention_biases = object.flag_or("attention_bias", false);
  require_flag(object, "use_qk_norm", false);
  ModelOptions& options = config.model_options;
  options.norm_biases = false;
  options.parallel = options.shared_norm = true;
  options.logit_scale = object.number_or("logit_scale", 0.0625, -1e6, 1e6);
  RopeSettings settings;
  settings.interleaved = true;
  config.groups =
      uniform_groups(config, default_variant(), hugging_face_rope(object, config, settings));
  return {config, {}};
}

}  // namespace

CheckpointFormat cohere_format() {
  return decoder_format("cohere", read_cohere);
}

}  // namespace attnscope
