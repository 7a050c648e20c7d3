// Qwen 2 and 2.5 (arXiv:2407.10671): Llama with biases of queries, keys and values; Qwen 3
// (arXiv:2505.09388): norms of queries and keys instead, optionally a mixture of experts.
#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

// If "use_sliding_window", layers from `max_window_layers` on have windows.
void set_windows(JsonObject& object, ModelConfig& config) {
  const bool has_windows = object.flag_or("use_sliding_window", false);
  const Index window = object.integer_or("sliding_window", 4096, 1, kMaxModelTokens);
  const Index first = object.integer_or("max_window_layers", 28, 0, kMaxModelTokens);
  const std::vector<bool> slides = sliding_layers(
      object, config, [](Index layer, Index from) { return layer >= from; },
      has_windows ? first : config.layers);
  set_groups(config, slides, window_variant(config, window), hugging_face_rope(object, config));
}

DecoderLayout read_qwen2(JsonObject& object) {
  ModelConfig config = decoder_sizes(object);
  config.attention_biases = true;
  config.model_options.attention_output_bias = false;
  set_windows(object, config);
  return {config, {}};
}

ModelConfig qwen3_config(JsonObject& object, const SizeNames& names = {}) {
  ModelConfig config = decoder_sizes(object, names);
  if (!object.has("head_dim")) config.head_size = 128;
  config.attention_biases = object.flag_or("attention_bias", false);
  config.model_options.query_key_norm = QueryKeyNorm::Head;
  set_windows(object, config);
  return config;
}

DecoderLayout read_qwen3(JsonObject& object) {
  return {qwen3_config(object), {}};
}

DecoderLayout read_qwen3_moe(JsonObject& object) {
  SizeNames sizes;
  sizes.hidden = "moe_intermediate_size";
  DecoderLayout layout{qwen3_config(object, sizes), {}};
  if (object.integer_or("decoder_sparse_step", 1, 1, 4096) != 1) {
    object.fail("decoder_sparse_step", "1 (experts in every layer)");
  }
  if (object.has("mlp_only_layers") && object.array("mlp_only_layers").size() > 0) {
    object.fail("mlp_only_layers", "none (experts in every layer)");
  }
  Experts& experts = layout.config.model_options.experts;
  const char* count = object.has("num_experts") ? "num_experts" : "num_local_experts";
  experts.count = object.integer_or(count, 128, 1, 4096);
  experts.chosen = object.integer_or("num_experts_per_tok", 8, 1, 4096);
  experts.renormalised = object.flag_or("norm_topk_prob", false);
  DecoderNames& names = layout.names;
  names.router = "mlp.gate";
  names.experts = "mlp.experts.";
  names.expert_gate = "gate_proj";
  names.expert_in = "up_proj";
  names.expert_out = "down_proj";
  return layout;
}

}  // namespace

CheckpointFormat qwen2_format() {
  return decoder_format("qwen2", read_qwen2);
}

CheckpointFormat qwen3_format() {
  return decoder_format("qwen3", read_qwen3);
}

CheckpointFormat qwen3_moe_format() {
  return decoder_format("qwen3_moe", read_qwen3_moe);
}

}  // namespace attnscope
