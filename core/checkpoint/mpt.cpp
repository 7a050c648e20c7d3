// MPT (MosaicML, 2023): ALiBi, layer norms and matrices without biases, q, k and v fused.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/checkpoint/decoder_layout.h"
#include "core/checkpoint/hugging_face.h"

namespace attnscope {
namespace {

// ALiBi with slopes 2^(-bias_max (n + 1) / heads). If heads is not a power of two, uses the slopes
// for the next power of two, in the order second, fourth, ..., first, third, ...
Choice mpt_alibi(const ModelConfig& config, double bias_max) {
  Choice alibi{"alibi", default_values(encoding("alibi").parameters)};
  if (bias_max == 8) return alibi;  // the default slopes
  const auto heads = static_cast<std::size_t>(config.heads), power = std::bit_ceil(heads);
  std::vector<double> all, slopes;
  for (std::size_t n = 0; n < power; ++n) {
    all.push_back(std::exp2(-bias_max * static_cast<double>(n + 1) / static_cast<double>(power)));
  }
  const bool whole = power == heads;
  for (std::size_t n = 0; n < heads; ++n) {
    const std::size_t odd = 2 * n + 1;
    slopes.push_back(all[whole ? n : odd < power ? odd : odd - power - 1]);
  }
  alibi.values.set("slopes", slopes);
  return alibi;
}

// Reads "attn_config". Only the ALiBi slopes and the score scale may vary.
void read_mpt_attention(JsonObject& object, ModelConfig& config) {
  Json settings = Json::object();
  if (object.has("attn_config")) settings = without_nulls(object.any("attn_config"));
  JsonObject attention(settings, object.path_of("attn_config"));
  require_flag(attention, "alibi", true);
  require_flag(attention, "prefix_lm", false);
  require_flag(attention, "qk_ln", false);
  if (attention.has("clip_qkv")) {
    attention.fail("clip_qkv", "nothing (clipping of q, k and v is not supported)");
  }
  if (attention.has("softmax_scale")) {
    config.model_options.attention_scale = attention.number("softmax_scale", 0, 1e6);
  }
  const double bias_max = attention.number_or("alibi_bias_max", 8, 1e-6, 1e3);
  config.groups = uniform_groups(config, default_variant(), mpt_alibi(config, bias_max));
}

DecoderLayout read_mpt(JsonObject& object) {
  SizeNames sizes;
  sizes.context = "max_seq_len";
  sizes.width = "d_model";
  sizes.layers = "n_layers";
  sizes.heads = "n_heads";
  sizes.kv_heads = nullptr;
  sizes.hidden = "ffn_hidden_size";
  sizes.hidden_is_optional = true;
  sizes.default_activation = "gelu";
  sizes.epsilon = "layer_norm_epsilon";
  sizes.default_epsilon = 1e-5;
  sizes.tied_by_default = true;
  ModelConfig config = layer_norm_sizes(object, sizes);
  config.hidden = config.width * object.integer_or("expansion_ratio", 4, 1, 8);
  config.attention_biases = config.feed_forward_biases = false;
  config.model_options.norm_biases = false;
  if (object.has("logit_scale")) object.fail("logit_scale", "nothing (not supported)");
  read_mpt_attention(object, config);
  DecoderNames names;
  names.prefixes = {"transformer.", ""};
  names.embedding = "wte";
  names.layers = "blocks.";
  names.final_norm = "norm_f";
  names.attn_norm = "norm_1";
  names.ffn_norm = "norm_2";
  names.qkv = "attn.Wqkv";
  names.o = "attn.out_proj";
  names.in = "ffn.up_proj";
  names.out = "ffn.down_proj";
  return {config, names};
}

}  // namespace

CheckpointFormat mpt_format() {
  return decoder_format("mpt", read_mpt);
}

}  // namespace attnscope
