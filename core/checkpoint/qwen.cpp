// Qwen 2 and 2.5 (arXiv:2407.10671): Llama with biases of queries, keys and values; Qwen 3
// (arXiv:2505.09388): norms of queries and keys instead. Both optionally have a mixture of experts,
// Qwen 2 with a shared expert.
#include <set>

#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

bool never(Index, Index) {
  return false;
}
bool follows(Index layer, Index first) {
  return layer >= first;
}
// Rule of the Hugging Face library for Qwen 2 with experts.
bool is_even_before(Index layer, Index last) {
  return layer % 2 == 0 && layer < last;
}

// If "use_sliding_window", some layers have windows: those of "layer_types", else those for which
// slides_by_default(layer, max_window_layers) is true.
void set_windows(JsonObject& object, ModelConfig& config,
                 bool (*slides_by_default)(Index, Index) = follows) {
  const bool has_windows = object.flag_or("use_sliding_window", false);
  // Configs without windows store 0.
  const Index stored =
      object.integer_or("sliding_window", 4096, has_windows ? 1 : 0, kMaxModelTokens);
  const Index window = stored == 0 ? config.context : stored;
  const Index first = object.integer_or("max_window_layers", 28, 0, kMaxModelTokens);
  const std::vector<bool> slides =
      sliding_layers(object, config, has_windows ? slides_by_default : never, first);
  set_groups(config, slides, window_variant(window), hugging_face_rope(object, config));
}

ModelConfig qwen2_config(JsonObject& object, const SizeNames& names = {}) {
  ModelConfig config = decoder_sizes(object, names);
  config.attention_biases = true;
  config.model_options.attention_output_bias = false;
  return config;
}

DecoderLayout read_qwen2(JsonObject& object) {
  ModelConfig config = qwen2_config(object);
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

SizeNames expert_sizes() {
  SizeNames sizes;
  sizes.hidden = "moe_intermediate_size";
  return sizes;
}

// Layers without experts: those that "mlp_only_layers" lists, and all but every n-th layer, where n
// is "decoder_sparse_step".
std::vector<Index> dense_layers(JsonObject& object, Index layers) {
  const Index step = object.integer_or("decoder_sparse_step", 1, 1, 4096);
  std::set<Index> dense;
  for (Index layer = 0; layer < layers; ++layer) {
    if ((layer + 1) % step != 0) dense.insert(layer);
  }
  if (object.has("mlp_only_layers")) {
    for (const Json& layer : object.array("mlp_only_layers")) {
      const bool is_valid = layer.is_number_integer() && layer >= 0 && layer < layers;
      if (!is_valid)
        object.fail("mlp_only_layers", "a list of layers below " + std::to_string(layers));
      dense.insert(layer.get<Index>());
    }
  }
  return {dense.begin(), dense.end()};
}

// Sets the experts of a config of expert_sizes(). The defaults are those of the Hugging Face
// library for the larger published model.
DecoderLayout with_experts(JsonObject& object, const ModelConfig& config, const Experts& defaults) {
  DecoderLayout layout{config, {}};
  Experts& experts = layout.config.model_options.experts;
  const char* count = object.has("num_experts") ? "num_experts" : "num_local_experts";
  experts.count = object.integer_or(count, defaults.count, 1, 4096);
  experts.chosen = object.integer_or("num_experts_per_tok", defaults.chosen, 1, 4096);
  experts.renormalised = object.flag_or("norm_topk_prob", false);
  experts.dense_layers = dense_layers(object, config.layers);
  if (!experts.dense_layers.empty()) {
    experts.dense_hidden = object.integer("intermediate_size", 1, 8 * kMaxModelWidth);
  }
  DecoderNames& names = layout.names;
  names.router = "mlp.gate";
  names.experts = "mlp.experts.";
  names.expert_gate = "gate_proj";
  names.expert_in = "up_proj";
  names.expert_out = "down_proj";
  return layout;
}

DecoderLayout read_qwen2_moe(JsonObject& object) {
  ModelConfig config = qwen2_config(object, expert_sizes());
  config.attention_biases = object.flag_or("qkv_bias", true);
  set_windows(object, config, is_even_before);
  DecoderLayout layout = with_experts(object, config, {.count = 60, .chosen = 4});
  layout.config.model_options.experts.shared_hidden =
      object.integer_or("shared_expert_intermediate_size", 5632, 1, 8 * kMaxModelWidth);
  layout.names.shared_gate = "mlp.shared_expert_gate";
  layout.names.shared_expert = "mlp.shared_expert.";
  return layout;
}

DecoderLayout read_qwen3_moe(JsonObject& object) {
  return with_experts(object, qwen3_config(object, expert_sizes()), {.count = 128, .chosen = 8});
}

}  // namespace

CheckpointFormat qwen2_format() {
  return decoder_format("qwen2", read_qwen2);
}

CheckpointFormat qwen2_moe_format() {
  return decoder_format("qwen2_moe", read_qwen2_moe);
}

CheckpointFormat qwen3_format() {
  return decoder_format("qwen3", read_qwen3);
}

CheckpointFormat qwen3_moe_format() {
  return decoder_format("qwen3_moe", read_qwen3_moe);
}

}  // namespace attnscope
