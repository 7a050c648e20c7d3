// GPT-NeoX (Black et al., 2022, arXiv:2204.06745), the layout of Pythia: parallel attention and
// feed-forward blocks, each after its own layer norm, partial RoPE.
#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

DecoderLayout read_gpt_neox(JsonObject& object) {
  SizeNames sizes;
  sizes.kv_heads = nullptr;
  sizes.epsilon = "layer_norm_eps";
  sizes.default_epsilon = 1e-5;
  sizes.default_activation = "gelu";
  ModelConfig config = layer_norm_sizes(object, sizes);
  config.attention_biases = object.flag_or("attention_bias", true);
  config.model_options.parallel = object.flag_or("use_parallel_residual", true);
  RopeSettings settings;
  settings.base = object.number_or("rotary_emb_base", 10000, 1e-3, 1e18);
  settings.share = object.number_or("rotary_pct", 0.25, 0, 1);
  settings.partial = true;
  config.groups =
      uniform_groups(config, default_variant(), hugging_face_rope(object, config, settings));
  DecoderNames names;
  names.prefixes = {"gpt_neox.", ""};
  names.embedding = "embed_in";
  names.final_norm = "final_layer_norm";
  names.head = "embed_out";
  names.qkv = "attention.query_key_value";
  names.qkv_by_head = true;
  names.o = "attention.dense";
  names.in = "mlp.dense_h_to_4h";
  names.out = "mlp.dense_4h_to_h";
  names.ignored = {"attention.bias", "attention.masked_bias", "attention.rotary_emb.inv_freq"};
  return {config, names};
}

}  // namespace

CheckpointFormat gpt_neox_format() {
  return decoder_format("gpt_neox", read_gpt_neox);
}

}  // namespace attnscope
