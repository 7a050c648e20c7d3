// StarCoder 1 (Li et al., 2023, arXiv:2305.06161, "GPT BigCode"): GPT-2 with multi-query attention
// and matrices [out, in]; StarCoder 2 (arXiv:2402.19173): RoPE and a window.
#include "core/checkpoint/decoder_layout.h"
#include "core/checkpoint/hugging_face.h"

namespace attnscope {
namespace {

DecoderLayout read_starcoder2(JsonObject& object) {
  SizeNames sizes;
  sizes.default_activation = "gelu_pytorch_tanh";
  sizes.epsilon = "norm_epsilon";
  sizes.default_epsilon = 1e-5;
  sizes.tied_by_default = true;
  ModelConfig config = layer_norm_sizes(object, sizes);
  config.attention_biases = config.feed_forward_biases = object.flag_or("use_bias", true);
  const Choice window = configured_window_variant(object);
  config.groups = uniform_groups(config, window, hugging_face_rope(object, config));
  DecoderNames names;
  names.in = "mlp.c_fc";
  names.out = "mlp.c_proj";
  return {config, names};
}

DecoderLayout read_gpt_bigcode(JsonObject& object) {
  SizeNames sizes = gpt2_size_names();
  sizes.default_activation = "gelu_pytorch_tanh";
  sizes.tied_by_default = true;
  ModelConfig config = layer_norm_sizes(object, sizes);
  const bool multi_query = object.flag_or("multi_query", true);
  if (multi_query) config.kv_heads = 1;
  require_flag(object, "scale_attn_weights", true);
  require_flag(object, "add_cross_attention", false);
  const Choice learned{"learned", default_values(encoding("learned").parameters)};
  config.groups = uniform_groups(config, default_variant(), learned);
  DecoderNames names = gpt2_names();
  names.qkv = "attn.c_attn";
  names.qkv_by_head = !multi_query;
  names.o = "attn.c_proj";
  names.ignored = {"attn.bias", "attn.masked_bias"};
  return {config, names};
}

}  // namespace

CheckpointFormat starcoder2_format() {
  return decoder_format("starcoder2", read_starcoder2);
}

CheckpointFormat gpt_bigcode_format() {
  return decoder_format("gpt_bigcode", read_gpt_bigcode);
}

}  // namespace attnscope
