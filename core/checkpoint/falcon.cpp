// Falcon (Almazrouei et al., 2023, arXiv:2311.16867): parallel attention and feed-forward blocks
// after one norm (7B, multi-query) or two (40B, grouped-query); RW models: GPT-3 with ALiBi.
#include <cmath>

#include "core/checkpoint/decoder_layout.h"
#include "core/position/slopes.h"

namespace attnscope {
namespace {

// ALiBi with slopes divided by sqrt(d_k): Falcon adds the bias before scaling the scores.
Choice scaled_alibi(const ModelConfig& config) {
  Choice alibi{"alibi", default_values(encoding("alibi").parameters)};
  std::vector<double> slopes = default_slopes(config.heads);
  for (double& m : slopes) m /= std::sqrt(static_cast<double>(config.head_size));
  alibi.values.set("slopes", slopes);
  return alibi;
}

DecoderLayout read_falcon(JsonObject& object) {
  SizeNames sizes;
  if (object.has("n_layer")) sizes.layers = "n_layer";
  if (object.has("n_head")) sizes.heads = "n_head";
  sizes.kv_heads = nullptr;
  sizes.hidden = "ffn_hidden_size";
  sizes.hidden_is_optional = true;
  sizes.activation = "activation";
  sizes.default_activation = "gelu";
  sizes.epsilon = "layer_norm_epsilon";
  sizes.default_epsilon = 1e-5;
  sizes.tied_by_default = true;
  ModelConfig config = layer_norm_sizes(object, sizes);
  config.attention_biases = config.feed_forward_biases = object.flag_or("bias", false);
  const bool new_architecture = object.flag_or("new_decoder_architecture", false);
  const bool multi_query = object.flag_or("multi_query", true);
  if (new_architecture) {
    const char* name = object.has("n_head_kv") ? "n_head_kv" : "num_kv_heads";
    config.kv_heads = object.integer_or(name, config.heads, 1, config.heads);
    if (config.heads % config.kv_heads != 0) object.fail(name, "a divisor of the heads");
  } else {
    config.kv_heads = multi_query ? 1 : config.heads;
  }
  ModelOptions& options = config.model_options;
  options.parallel = new_architecture || object.flag_or("parallel_attn", true);
  const Index norms = object.integer_or("num_ln_in_parallel_attn", new_architecture ? 2 : 1, 1, 2);
  options.shared_norm = options.parallel && norms == 1;
  config.groups = uniform_groups(
      config, default_variant(),
      object.flag_or("alibi", false) ? scaled_alibi(config) : hugging_face_rope(object, config));
  DecoderNames names;
  names.prefixes = {"transformer.", ""};
  names.embedding = "word_embeddings";
  names.layers = "h.";
  names.final_norm = "ln_f";
  if (options.parallel && !options.shared_norm) {
    names.attn_norm = "ln_attn";
    names.ffn_norm = "ln_mlp";
  }
  names.qkv = "self_attention.query_key_value";
  names.qkv_by_head = new_architecture || !multi_query;
  names.o = "self_attention.dense";
  names.in = "mlp.dense_h_to_4h";
  names.out = "mlp.dense_4h_to_h";
  names.ignored = {"self_attention.rotary_emb.inv_freq"};
  return {config, names};
}

}  // namespace

CheckpointFormat falcon_format() {
  return decoder_format("falcon", read_falcon);
}

}  // namespace attnscope
