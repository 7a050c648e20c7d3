// Architectures of GGUF files that resemble GPT-2: layer norms with biases, ungated feed-forwards.
#include "core/checkpoint/gguf_architecture.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

GgufNames gpt2_layer_names() {
  return {{"attn_norm", "ln_1"}, {"attn_qkv", "attn.c_attn"}, {"attn_output", "attn.c_proj"},
          {"ffn_norm", "ln_2"},  {"ffn_up", "mlp.c_fc"},      {"ffn_down", "mlp.c_proj"}};
}

// Layers of BLOOM, Falcon and GPT-NeoX; `attention` is "self_attention." or "attention.".
GgufNames fused_layer_names(const std::string& attention) {
  return {{"attn_norm", "input_layernorm"},
          {"ffn_norm", "post_attention_layernorm"},
          {"attn_qkv", attention + "query_key_value"},
          {"attn_output", attention + "dense"},
          {"ffn_up", "mlp.dense_h_to_4h"},
          {"ffn_down", "mlp.dense_4h_to_h"}};
}

double read_epsilon(GgufMetadata& in) {
  return in.number("attention.layer_norm_epsilon", 0, 1);
}

// Config of GPT-2 and StarCoder 1, with GPT-2's names.
GgufLayout gpt2_like(GgufMetadata& in, const std::string& model_type) {
  GgufLayout layout;
  layout.sizes = gguf_sizes(in);
  const GgufSizes& sizes = layout.sizes;
  Json& config = layout.config = Json::object();
  config["model_type"] = model_type;
  config["vocab_size"] = sizes.vocabulary;
  config["n_positions"] = sizes.context;
  config["n_embd"] = sizes.width;
  config["n_layer"] = sizes.layers;
  config["n_head"] = sizes.heads;
  config["n_inner"] = sizes.hidden;
  config["activation_function"] = "gelu_new";
  config["layer_norm_epsilon"] = read_epsilon(in);
  in.require_flag("attention.causal", true);
  layout.names = {{"token_embd", "transformer.wte"},
                  {"position_embd", "transformer.wpe"},
                  {"output_norm", "transformer.ln_f"},
                  {"output", "lm_head"}};
  layout.stacks = {{"blk.", "transformer.h.", gpt2_layer_names()}};
  return layout;
}

GgufLayout read_gpt2(GgufMetadata& in) {
  GgufLayout layout = gpt2_like(in, "gpt2");
  if (layout.sizes.kv_heads != layout.sizes.heads) {
    in.fail("attention.head_count_kv", "attention.head_count");
  }
  layout.transposes = true;
  return layout;
}

GgufLayout read_starcoder(GgufMetadata& in) {
  GgufLayout layout = gpt2_like(in, "gpt_bigcode");
  if (layout.sizes.kv_heads != 1) {
    in.fail("attention.head_count_kv", "1 (nothing else is supported)");
  }
  layout.config["multi_query"] = true;
  return layout;
}

// A model with q, k and v fused. `layers` and `attention` are prefixes of Hugging Face names.
GgufLayout fused_model(GgufMetadata& in, const std::string& model_type, const std::string& layers,
                       const std::string& attention) {
  GgufLayout layout = llama_like(in, model_type, Norm::LayerNorm);
  layout.config["layer_norm_epsilon"] = layout.config["layer_norm_eps"];
  layout.stacks = {{"blk.", layers, fused_layer_names(attention)}};
  layout.fuses_by_head = true;
  return layout;
}

GgufLayout read_gpt_neox(GgufMetadata& in) {
  GgufLayout layout = fused_model(in, "gpt_neox", "gpt_neox.layers.", "attention.");
  if (layout.sizes.kv_heads != layout.sizes.heads) {
    in.fail("attention.head_count_kv", "attention.head_count");
  }
  add_rope(in, layout.sizes, layout.config);
  layout.config["hidden_act"] = "gelu";
  layout.config["use_parallel_residual"] = in.flag_or("use_parallel_residual", true);
  layout.names = {{"token_embd", "gpt_neox.embed_in"},
                  {"output_norm", "gpt_neox.final_layer_norm"},
                  {"output", "embed_out"}};
  return layout;
}

// Falcon 7B has one key-value head. Later models have several; some have separate norms for
// attention and feed-forward.
GgufLayout read_falcon(GgufMetadata& in) {
  GgufLayout layout = fused_model(in, "falcon", "transformer.h.", "self_attention.");
  const GgufSizes& sizes = layout.sizes;
  add_rope(in, sizes, layout.config);
  Json& config = layout.config;
  const bool two_norms = has_in_layer(in, "attn_norm_2.weight");
  config["activation"] = "gelu";
  config["ffn_hidden_size"] = sizes.hidden;
  config["bias"] = has_in_layer(in, "attn_qkv.bias");
  config["multi_query"] = sizes.kv_heads == 1;
  config["new_decoder_architecture"] = sizes.kv_heads != 1 || two_norms;
  config["num_kv_heads"] = sizes.kv_heads;
  config["num_ln_in_parallel_attn"] = two_norms ? 2 : 1;
  if (two_norms) {
    set_names(layout.stacks[0].names, {{"attn_norm", "ln_mlp"}, {"attn_norm_2", "ln_attn"}});
  }
  layout.names = {{"token_embd", "transformer.word_embeddings"},
                  {"output_norm", "transformer.ln_f"},
                  {"output", "lm_head"}};
  return layout;
}

GgufLayout read_bloom(GgufMetadata& in) {
  GgufLayout layout = fused_model(in, "bloom", "transformer.h.", "self_attention.");
  const GgufSizes& sizes = layout.sizes;
  if (sizes.kv_heads != sizes.heads) in.fail("attention.head_count_kv", "attention.head_count");
  layout.config["seq_length"] = sizes.context;
  layout.config["n_inner"] = sizes.hidden;
  layout.config["hidden_act"] = "gelu_pytorch_tanh";
  layout.names = {{"token_embd", "transformer.word_embeddings"},
                  {"token_embd_norm", "transformer.word_embeddings_layernorm"},
                  {"output_norm", "transformer.ln_f"},
                  {"output", "lm_head"}};
  return layout;
}

GgufLayout read_phi2(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "phi", Norm::LayerNorm);
  add_rope(in, layout.sizes, layout.config);
  layout.config["hidden_act"] = "gelu_new";
  set_names(layout.names, {{"output_norm", "model.final_layernorm"}});
  set_names(layout.stacks[0].names,
            {{"attn_output", "self_attn.dense"}, {"ffn_up", "mlp.fc1"}, {"ffn_down", "mlp.fc2"}});
  return layout;
}

GgufLayout read_starcoder2(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "starcoder2", Norm::LayerNorm);
  add_rope(in, layout.sizes, layout.config);
  Json& config = layout.config;
  config["norm_epsilon"] = config["layer_norm_eps"];
  config["hidden_act"] = "gelu_pytorch_tanh";
  config["use_bias"] = has_in_layer(in, "attn_q.bias");
  const Index window = in.integer_or("attention.sliding_window", 0, 0, kMaxModelTokens);
  if (window > 0) config["sliding_window"] = window;
  set_names(layout.stacks[0].names, {{"ffn_up", "mlp.c_fc"}, {"ffn_down", "mlp.c_proj"}});
  return layout;
}

GgufLayout read_mpt(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "mpt", Norm::LayerNorm);
  const GgufSizes& sizes = layout.sizes;
  if (sizes.kv_heads != sizes.heads) in.fail("attention.head_count_kv", "attention.head_count");
  if (sizes.hidden % sizes.width != 0) {
    in.fail("feed_forward_length", "a multiple of embedding_length");
  }
  in.require_number("attention.clamp_kqv", 0);
  Json& config = layout.config;
  config["max_seq_len"] = sizes.context;
  config["d_model"] = sizes.width;
  config["n_layers"] = sizes.layers;
  config["n_heads"] = sizes.heads;
  config["expansion_ratio"] = sizes.hidden / sizes.width;
  config["hidden_act"] = "gelu";
  config["layer_norm_epsilon"] = config["layer_norm_eps"];
  Json attention = Json::object();
  attention["alibi_bias_max"] = in.number("attention.max_alibi_bias", 1e-6, 1e3);
  config["attn_config"] = attention;
  layout.names = {{"token_embd", "transformer.wte"},
                  {"output_norm", "transformer.norm_f"},
                  {"output", "lm_head"}};
  layout.stacks = {{"blk.",
                    "transformer.blocks.",
                    {{"attn_norm", "norm_1"},
                     {"ffn_norm", "norm_2"},
                     {"attn_qkv", "attn.Wqkv"},
                     {"attn_output", "attn.out_proj"},
                     {"ffn_up", "ffn.up_proj"},
                     {"ffn_down", "ffn.down_proj"}}}};
  return layout;
}

}  // namespace

std::vector<GgufArchitecture> gguf_gpt_architectures() {
  return {{"gpt2", read_gpt2},
          {"starcoder", read_starcoder},
          {"gptneox", read_gpt_neox},
          {"falcon", read_falcon},
          {"bloom", read_bloom},
          {"phi2", read_phi2},
          {"starcoder2", read_starcoder2},
          {"mpt", read_mpt}};
}

}  // namespace attnscope
