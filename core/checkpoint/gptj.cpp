// GPT-J (Wang and Komatsuzaki, 2021): parallel attention and feed-forward blocks after one layer
// norm, interleaved partial RoPE, an output head with bias.
#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

DecoderLayout read_gptj(JsonObject& object) {
  SizeNames sizes = gpt2_size_names();
  sizes.default_activation = "gelu_new";
  ModelConfig config = layer_norm_sizes(object, sizes);
  config.attention_biases = false;
  config.head.bias = true;
  config.model_options.parallel = config.model_options.shared_norm = true;
  RopeSettings settings;
  settings.interleaved = true;
  Choice rope = hugging_face_rope(object, config, settings);
  rope.values.set("dims", object.integer_or("rotary_dim", config.head_size, 2, config.head_size));
  config.groups = uniform_groups(config, default_variant(), rope);
  DecoderNames names;
  names.prefixes = {"transformer.", ""};
  names.embedding = "wte";
  names.layers = "h.";
  names.final_norm = "ln_f";
  names.attn_norm = "ln_1";
  names.q = "attn.q_proj";
  names.k = "attn.k_proj";
  names.v = "attn.v_proj";
  names.o = "attn.out_proj";
  names.in = "mlp.fc_in";
  names.out = "mlp.fc_out";
  names.ignored = {"attn.bias", "attn.masked_bias", "attn.embed_positions"};
  return {config, names};
}

}  // namespace

CheckpointFormat gptj_format() {
  return decoder_format("gptj", read_gptj);
}

}  // namespace attnscope
