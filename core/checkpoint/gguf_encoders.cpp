// Architectures of GGUF files with an encoder: BERT with its descendants, Nomic BERT, T5.
#include "core/checkpoint/gguf_architecture.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

// Number of rows of a table; 0 if the table is missing.
Index table_rows(const GgufMetadata& in, const std::string& name) {
  if (!in.has_tensor(name)) return 0;
  const Shape& shape = in.tensor(name).shape;
  return shape.empty() ? 0 : shape[0];
}

// Config and names that the text encoders share.
GgufLayout encoder_like(GgufMetadata& in, const std::string& model_type) {
  GgufLayout layout;
  layout.sizes = gguf_sizes(in);
  const GgufSizes& sizes = layout.sizes;
  if (sizes.head_size * sizes.heads != sizes.width || sizes.kv_heads != sizes.heads) {
    in.fail("attention.head_count", "a divisor of embedding_length, without shared heads");
  }
  Json& config = layout.config = Json::object();
  config["model_type"] = model_type;
  config["vocab_size"] = sizes.vocabulary;
  config["max_position_embeddings"] = sizes.context;
  config["hidden_size"] = sizes.width;
  config["num_hidden_layers"] = sizes.layers;
  config["num_attention_heads"] = sizes.heads;
  config["intermediate_size"] = sizes.hidden;
  config["layer_norm_eps"] = in.number("attention.layer_norm_epsilon", 0, 1);
  config["type_vocab_size"] = table_rows(in, "token_types.weight");
  in.require_flag("attention.causal", false);
  layout.names = {{"token_embd", "embeddings.word_embeddings"},
                  {"token_types", "embeddings.token_type_embeddings"},
                  {"token_embd_norm", "embeddings.LayerNorm"},
                  {"cls", "classifier.dense"},
                  {"cls.output", "classifier.out_proj"}};
  return layout;
}

// BERT and models that converters write as BERT: RoBERTa and XLM-R without unused first positions,
// DistilBERT without token types. Files lack poolers and masked language model heads.
GgufLayout read_bert(GgufMetadata& in) {
  GgufLayout layout = encoder_like(in, "bert");
  layout.config["hidden_act"] = "gelu";
  set_names(layout.names, {{"position_embd", "embeddings.position_embeddings"}});
  layout.stacks = {{"blk.",
                    "encoder.layer.",
                    {{"attn_q", "attention.self.query"},
                     {"attn_k", "attention.self.key"},
                     {"attn_v", "attention.self.value"},
                     {"attn_output", "attention.output.dense"},
                     {"attn_output_norm", "attention.output.LayerNorm"},
                     {"ffn_up", "intermediate.dense"},
                     {"ffn_down", "output.dense"},
                     {"layer_output_norm", "output.LayerNorm"}}}};
  return layout;
}

GgufLayout read_nomic_bert(GgufMetadata& in) {
  GgufLayout layout = encoder_like(in, "nomic_bert");
  add_rope(in, layout.sizes, layout.config, {.whole_head = true});
  layout.config["hidden_act"] = "silu";
  layout.stacks = {{"blk.",
                    "layers.",
                    {{"attn_q", "self_attn.q_proj"},
                     {"attn_k", "self_attn.k_proj"},
                     {"attn_v", "self_attn.v_proj"},
                     {"attn_output", "self_attn.o_proj"},
                     {"attn_output_norm", "post_attention_layernorm"},
                     {"ffn_gate", "mlp.gate_proj"},
                     {"ffn_up", "mlp.up_proj"},
                     {"ffn_down", "mlp.down_proj"},
                     {"layer_output_norm", "post_mlp_layernorm"}}}};
  return layout;
}

GgufNames t5_layer_names(bool cross, bool gated) {
  const std::string self = "layer.0.SelfAttention.", other = "layer.1.EncDecAttention.";
  const std::string last = cross ? "layer.2." : "layer.1.", dense = last + "DenseReluDense.";
  GgufNames names{{"attn_norm", "layer.0.layer_norm"},
                  {"attn_q", self + "q"},
                  {"attn_k", self + "k"},
                  {"attn_v", self + "v"},
                  {"attn_o", self + "o"},
                  {"attn_rel_b", self + "relative_attention_bias"},
                  {"ffn_norm", last + "layer_norm"},
                  {"ffn_gate", dense + "wi_0"},
                  {"ffn_up", dense + (gated ? "wi_1" : "wi")},
                  {"ffn_down", dense + "wo"}};
  if (!cross) return names;
  set_names(names, {{"cross_attn_norm", "layer.1.layer_norm"},
                    {"cross_attn_q", other + "q"},
                    {"cross_attn_k", other + "k"},
                    {"cross_attn_v", other + "v"},
                    {"cross_attn_o", other + "o"},
                    {"cross_attn_rel_b", other + "relative_attention_bias"}});
  return names;
}

// T5, its gated successors, mT5 and umT5, with or without a decoder.
GgufLayout read_t5(GgufMetadata& in) {
  GgufLayout layout;
  layout.sizes = gguf_sizes(in);
  const GgufSizes& sizes = layout.sizes;
  if (sizes.kv_heads != sizes.heads) in.fail("attention.head_count_kv", "attention.head_count");
  const bool gated = in.has_tensor("enc.blk.0.ffn_gate.weight");
  Json& config = layout.config = Json::object();
  config["model_type"] = "t5";
  config["vocab_size"] = sizes.vocabulary;
  config["n_positions"] = sizes.context;
  config["d_model"] = sizes.width;
  config["num_layers"] = sizes.layers;
  config["num_decoder_layers"] = in.integer_or("decoder_block_count", sizes.layers, 1, 1024);
  config["num_heads"] = sizes.heads;
  config["d_kv"] = sizes.head_size;
  config["d_ff"] = sizes.hidden;
  config["feed_forward_proj"] = gated ? "gated-gelu" : "relu";
  if (gated) config["scale_decoder_outputs"] = false;  // the default is true for a tied output
  config["layer_norm_epsilon"] = in.number("attention.layer_norm_rms_epsilon", 0, 1);
  config["relative_attention_num_buckets"] =
      in.integer("attention.relative_buckets_count", 4, 1 << 20);
  config["relative_attention_max_distance"] = 128;  // not stored; llama.cpp assumes this, too
  config["decoder_start_token_id"] = in.integer_or("decoder_start_token_id", 0, 0, kMaxModelTokens);
  in.ignore("attention.layer_norm_epsilon");  // equals attention.layer_norm_rms_epsilon
  layout.names = {{"token_embd", "shared"},
                  {"output", "lm_head"},
                  {"enc.output_norm", "encoder.final_layer_norm"},
                  {"dec.output_norm", "decoder.final_layer_norm"}};
  layout.stacks = {{"enc.blk.", "encoder.block.", t5_layer_names(false, gated)},
                   {"dec.blk.", "decoder.block.", t5_layer_names(true, gated)}};
  return layout;
}

}  // namespace

std::vector<GgufArchitecture> gguf_encoder_architectures() {
  return {{"bert", read_bert},
          {"nomic-bert", read_nomic_bert},
          {"t5", read_t5},
          {"t5encoder", read_t5}};
}

}  // namespace attnscope
