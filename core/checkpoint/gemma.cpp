// Gemma (arXiv:2403.08295): Llama with GeGLU, embeddings times sqrt(d) and gains stored minus 1.
// Gemma 2 (arXiv:2408.00118) adds norms after blocks, score and logit caps, and a window in every
// other layer. Gemma 3 (arXiv:2503.19786), text model: norms of queries and keys instead of caps,
// and windows with another RoPE base in five of six layers.
#include <cmath>

#include "core/checkpoint/decoder_layout.h"
#include "core/checkpoint/hugging_face.h"

namespace attnscope {
namespace {

DecoderLayout gemma_layout(JsonObject& object, Index context) {
  // The released Gemma 1 names "gelu" but computes the tanh approximation, as later configs state.
  SizeNames sizes;
  sizes.default_context = context;
  sizes.default_activation = "gelu_pytorch_tanh";
  sizes.tied_by_default = true;
  sizes.activation = "hidden_activation";
  ModelConfig config = decoder_sizes(object, sizes);
  if (!object.has("head_dim")) config.head_size = 256;
  if (!object.has("hidden_activation") && object.text_or("hidden_act", "gelu") != "gelu") {
    config.activation = hugging_face_activation(object, "hidden_act");
  }
  config.attention_biases = object.flag_or("attention_bias", false);
  config.model_options.embedding_scale = std::sqrt(static_cast<double>(config.width));
  DecoderNames names;
  // 0: the stored gains include the 1, as in GGUF files (gguf_config()).
  names.gain_offset = object.number_or("norm_gain_offset", 1, 0, 1);
  return {config, names};
}

DecoderLayout read_gemma(JsonObject& object) {
  DecoderLayout layout = gemma_layout(object, 8192);
  layout.config.groups =
      uniform_groups(layout.config, default_variant(), hugging_face_rope(object, layout.config));
  return layout;
}

// Common parts of Gemma 2 and 3. A missing cap means no cap.
DecoderLayout gemma2_layout(JsonObject& object, Index context) {
  DecoderLayout layout = gemma_layout(object, context);
  ModelOptions& options = layout.config.model_options;
  options.output_norm = OutputNorm::Also;
  options.attention_scale =
      1 / std::sqrt(object.number_or("query_pre_attn_scalar", 256, 1e-6, 1e6));
  options.score_cap = object.number_or("attn_logit_softcapping", 0, 0, 1e6);
  options.logit_cap = object.number_or("final_logit_softcapping", 0, 0, 1e6);
  require_flag(object, "use_bidirectional_attention", false);
  layout.names.attn_output_norm = "post_attention_layernorm";
  layout.names.ffn_norm = "pre_feedforward_layernorm";
  layout.names.ffn_output_norm = "post_feedforward_layernorm";
  return layout;
}

DecoderLayout read_gemma2(JsonObject& object) {
  DecoderLayout layout = gemma2_layout(object, 8192);
  const Index window = object.integer_or("sliding_window", 4096, 1, kMaxModelTokens);
  const std::vector<bool> slides =
      sliding_layers(object, layout.config, [](Index layer, Index) { return layer % 2 == 0; });
  set_groups(layout.config, slides, window_variant(window),
             hugging_face_rope(object, layout.config));
  return layout;
}

DecoderLayout read_gemma3(JsonObject& object) {
  DecoderLayout layout = gemma2_layout(object, 131072);
  ModelConfig& config = layout.config;
  if (config.model_options.score_cap > 0)
    layout.ignored_keys.emplace_back("attn_logit_softcapping");
  config.model_options.score_cap = 0;
  config.model_options.query_key_norm = QueryKeyNorm::Head;
  const Index window = object.integer_or("sliding_window", 4096, 1, kMaxModelTokens);
  const char* pattern =
      object.has("sliding_window_pattern") ? "sliding_window_pattern" : "_sliding_window_pattern";
  const Index every = object.integer_or(pattern, 6, 1, 4096);
  const std::vector<bool> slides = sliding_layers(
      object, config, [](Index layer, Index period) { return (layer + 1) % period != 0; }, every);
  RopeSettings full, sliding;
  full.base = 1e6;
  full.layer_type = "full_attention";
  sliding.base = object.number_or("rope_local_base_freq", 10000, 1e-3, 1e18);
  sliding.layer_type = "sliding_attention";
  sliding.scaled = false;
  set_groups(config, slides, window_variant(window), hugging_face_rope(object, config, full),
             hugging_face_rope(object, config, sliding));
  return layout;
}

}  // namespace

CheckpointFormat gemma_format() {
  return decoder_format("gemma", read_gemma);
}

CheckpointFormat gemma2_format() {
  return decoder_format("gemma2", read_gemma2);
}

CheckpointFormat gemma3_format() {
  return decoder_format("gemma3_text", read_gemma3);
}

}  // namespace attnscope
