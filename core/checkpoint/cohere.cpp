// Command R (Cohere, 2024): attention and feed-forward beside each other behind one layer norm
// without bias, RoPE between neighbouring components, scaled logits.
#include "core/checkpoint/decoder_layout.h"
#include "core/checkpoint/hugging_face.h"

namespace attnscope {

namespace {

DecoderLayout read_cohere(JsonObject& object) {
  SizeNames sizes;
  sizes.usual_context = 8192;
  sizes.epsilon = "layer_norm_eps";
  sizes.usual_epsilon = 1e-5;
  sizes.usually_tied = true;
  ModelConfig config = decoder_sizes(object, sizes);
  config.norm = Norm::LayerNorm;
  config.attention_biases = object.flag_or("attention_bias", false);
  require_flag(object, "use_qk_norm", false);
  Ingredients& i = config.ingredients;
  i.norm_biases = false;
  i.parallel = i.shared_norm = true;
  i.logit_scale = object.number_or("logit_scale", 0.0625, -1e6, 1e6);
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
