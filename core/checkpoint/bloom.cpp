// BLOOM (BigScience, 2022, arXiv:2211.05100): ALiBi, a norm after the embedding, q, k and v of each
// head interleaved in one matrix.
#include "core/checkpoint/decoder_layout.h"
#include "core/checkpoint/hugging_face.h"

namespace attnscope {
namespace {

DecoderLayout read_bloom(JsonObject& object) {
  SizeNames sizes;
  sizes.context = "seq_length";
  if (object.has("n_embed")) sizes.width = "n_embed";
  if (object.has("n_layer")) sizes.layers = "n_layer";
  if (object.has("n_head")) sizes.heads = "n_head";
  sizes.kv_heads = nullptr;
  sizes.hidden = "n_inner";
  sizes.hidden_is_optional = true;
  sizes.default_activation = "gelu_pytorch_tanh";
  sizes.epsilon = "layer_norm_epsilon";
  sizes.default_epsilon = 1e-5;
  sizes.tied_by_default = true;
  ModelConfig config = layer_norm_sizes(object, sizes);
  config.embedding.norm = true;
  require_flag(object, "apply_residual_connection_post_layernorm", false);
  const Choice alibi{"alibi", default_values(encoding("alibi").parameters)};
  config.groups = uniform_groups(config, default_variant(), alibi);
  DecoderNames names;
  names.prefixes = {"transformer.", ""};
  names.embedding = "word_embeddings";
  names.embedding_norm = "word_embeddings_layernorm";
  names.layers = "h.";
  names.final_norm = "ln_f";
  names.qkv = "self_attention.query_key_value";
  names.qkv_by_head = true;
  names.o = "self_attention.dense";
  names.in = "mlp.dense_h_to_4h";
  names.out = "mlp.dense_4h_to_h";
  return {config, names};
}

}  // namespace

CheckpointFormat bloom_format() {
  return decoder_format("bloom", read_bloom);
}

}  // namespace attnscope
