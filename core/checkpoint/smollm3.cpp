// SmolLM 3 (Hugging Face, 2025): Llama without positions in every fourth layer (Yang et al.,
// 2025, arXiv:2501.18795).
#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

DecoderLayout read_smollm3(JsonObject& object) {
  SizeNames sizes;
  sizes.default_context = 32768;
  sizes.tied_by_default = true;
  ModelConfig config = decoder_sizes(object, sizes);
  config.attention_biases = object.flag_or("attention_bias", false);
  config.feed_forward_biases = object.flag_or("mlp_bias", false);
  RopeSettings settings;
  settings.base = 2e6;
  const bool windowed = object.flag_or("use_sliding_window", false) && object.has("sliding_window");
  const Choice window = windowed
                            ? window_variant(object.integer("sliding_window", 1, kMaxModelTokens))
                            : default_variant();
  const std::vector<bool> slides =
      sliding_layers(object, config, [](Index, Index) { return false; });
  set_groups(config, slides, window, hugging_face_rope(object, config, settings));
  const Index every = object.integer_or("no_rope_layer_interval", 4, 1, 4096);
  std::vector<bool> rotary;
  for (Index layer = 0; layer < config.layers; ++layer) rotary.push_back((layer + 1) % every != 0);
  if (object.has("no_rope_layers")) {  // 1: the layer has RoPE
    rotary.clear();
    for (const Json& flag : object.array("no_rope_layers")) rotary.push_back(flag == 1);
    if (static_cast<Index>(rotary.size()) != config.layers) {
      object.fail("no_rope_layers", "one for each of " + std::to_string(config.layers) + " layers");
    }
  }
  for (std::size_t layer = 0; layer < rotary.size(); ++layer) {
    if (!rotary[layer]) config.groups[layer][0].encoding = default_encoding();
  }
  return {config, {}};
}

}  // namespace

CheckpointFormat smollm3_format() {
  return decoder_format("smollm3", read_smollm3);
}

}  // namespace attnscope
