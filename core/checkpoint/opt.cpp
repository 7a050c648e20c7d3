// OPT (Zhang et al., 2022, arXiv:2205.01068): GPT-2 with ReLU and matrices [out, in]; positions
// begin at row 2 of their table. OPT-350m has post norm and an embedding narrower than the model.
#include "core/checkpoint/decoder_layout.h"
#include "core/checkpoint/hugging_face.h"

namespace attnscope {
namespace {

DecoderLayout read_opt(JsonObject& object) {
  SizeNames sizes;
  sizes.kv_heads = nullptr;
  sizes.hidden = "ffn_dim";
  sizes.activation = "activation_function";
  sizes.default_activation = "relu";
  sizes.tied_by_default = true;
  ModelConfig config = layer_norm_sizes(object, sizes);
  config.norm_epsilon = 1e-5;
  config.attention_biases = config.feed_forward_biases = object.flag_or("enable_bias", true);
  config.pre_norm = object.flag_or("do_layer_norm_before", true);
  require_flag(object, "layer_norm_elementwise_affine", true);
  require_flag(object, "_remove_final_layer_norm", false);
  const Choice learned{"learned", default_values(encoding("learned").parameters)};
  config.groups = uniform_groups(config, default_variant(), learned);
  DecoderNames names;
  names.prefixes = {"model.decoder.", "decoder.", ""};
  names.positions = "embed_positions";
  names.skipped_positions = 2;
  names.final_norm = "final_layer_norm";
  names.attn_norm = "self_attn_layer_norm";
  names.ffn_norm = "final_layer_norm";
  names.o = "self_attn.out_proj";
  names.in = "fc1";
  names.out = "fc2";
  const Index embed_dim = object.integer_or("word_embed_proj_dim", config.width, 1, kMaxModelWidth);
  if (embed_dim != config.width) {
    names.projected_in = "project_in";
    names.projected_out = "project_out";
    names.tied_projection = config.tied_output;
    config.tied_output = false;
  }
  return {config, names};
}

}  // namespace

CheckpointFormat opt_format() {
  return decoder_format("opt", read_opt);
}

}  // namespace attnscope
