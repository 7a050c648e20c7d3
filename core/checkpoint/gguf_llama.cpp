// Architectures of GGUF files that resemble Llama: RMS norms or layer norms, gated feed-forwards.
#include <algorithm>
#include <cmath>

#include "core/checkpoint/gguf_architecture.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

constexpr Index kMaxExperts = 4096;

GgufNames llama_layer_names() {
  return {{"attn_norm", "input_layernorm"},    {"ffn_norm", "post_attention_layernorm"},
          {"attn_q", "self_attn.q_proj"},      {"attn_k", "self_attn.k_proj"},
          {"attn_v", "self_attn.v_proj"},      {"attn_output", "self_attn.o_proj"},
          {"attn_q_norm", "self_attn.q_norm"}, {"attn_k_norm", "self_attn.k_norm"},
          {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
          {"ffn_down", "mlp.down_proj"}};
}

void add_experts(GgufMetadata& in, GgufLayout& layout) {
  layout.config["num_local_experts"] = in.integer("expert_count", 1, kMaxExperts);
  layout.config["num_experts_per_tok"] = in.integer("expert_used_count", 1, kMaxExperts);
  in.require_number("expert_weights_scale", 1);
}

// Layout of a Llama-like model; the converter permutes the rows of its q and k matrices.
GgufLayout permuted_llama(GgufMetadata& in, const std::string& model_type) {
  GgufLayout layout = llama_like(in, model_type);
  add_rope(in, layout.sizes, layout.config, {.whole_head = true});
  layout.rotates_neighbours = true;
  layout.config["mlp_bias"] = has_in_layer(in, "ffn_up.bias");
  return layout;
}

// Llama, Mistral, Mixtral, and derived models that have biases for q, k and v only. Most Mistral
// files lack attention.sliding_window; these models are read without a window.
GgufLayout read_llama(GgufMetadata& in) {
  GgufLayout layout = permuted_llama(in, "llama");
  Json& config = layout.config;
  const Index window = in.integer_or("attention.sliding_window", 0, 0, kMaxModelTokens);
  if (in.integer_or("expert_count", 0, 0, kMaxExperts) > 0) {
    config["model_type"] = "mixtral";
    add_experts(in, layout);
    in.require_number("expert_gating_func", 1);
    layout.experts = {"block_sparse_moe.experts.", "w1", "w3", "w2"};
    set_names(layout.stacks[0].names, {{"ffn_gate_inp", "block_sparse_moe.gate"}});
  } else if (window > 0) {
    config["model_type"] = "mistral";
  } else if (has_in_layer(in, "attn_q.bias") && !has_in_layer(in, "attn_output.bias")) {
    config["model_type"] = "qwen2";
  }
  if (window > 0) config["sliding_window"] = window;
  return layout;
}

GgufLayout read_qwen2(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "qwen2");
  add_rope(in, layout.sizes, layout.config);
  return layout;
}

GgufLayout read_qwen3(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "qwen3");
  add_rope(in, layout.sizes, layout.config);
  return layout;
}

GgufLayout read_qwen3_moe(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "qwen3_moe");
  add_rope(in, layout.sizes, layout.config);
  add_experts(in, layout);
  in.require_number("expert_gating_func", 1);
  layout.config["moe_intermediate_size"] =
      in.integer("expert_feed_forward_length", 1, 8 * kMaxModelWidth);
  layout.config["norm_topk_prob"] = in.flag_or("expert_weights_norm", true);
  layout.experts = {"mlp.experts.", "gate_proj", "up_proj", "down_proj"};
  set_names(layout.stacks[0].names, {{"ffn_gate_inp", "mlp.gate"}});
  return layout;
}

// Widths that the file does not store follow the rules of llama.cpp.
GgufLayout read_qwen2_moe(GgufMetadata& in) {
  constexpr Index kMaxHidden = 8 * kMaxModelWidth;
  GgufLayout layout = llama_like(in, "qwen2_moe");
  add_rope(in, layout.sizes, layout.config);
  add_experts(in, layout);
  in.require_number("expert_gating_func", 1);
  Json& config = layout.config;
  const Index hidden = layout.sizes.hidden;
  const Index expert = hidden / config["num_experts_per_tok"].get<Index>();
  config["moe_intermediate_size"] =
      in.integer_or("expert_feed_forward_length", std::max<Index>(expert, 1), 1, kMaxHidden);
  config["shared_expert_intermediate_size"] =
      in.integer_or("expert_shared_feed_forward_length", hidden, 1, kMaxHidden);
  config["norm_topk_prob"] = in.flag_or("expert_weights_norm", false);
  config["qkv_bias"] = config["attention_bias"];
  layout.experts = {"mlp.experts.", "gate_proj", "up_proj", "down_proj"};
  set_names(layout.stacks[0].names, {{"ffn_gate_inp", "mlp.gate"},
                                     {"ffn_gate_inp_shexp", "mlp.shared_expert_gate"},
                                     {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
                                     {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
                                     {"ffn_down_shexp", "mlp.shared_expert.down_proj"}});
  return layout;
}

// Attention types of the layers. `key` stores a list of flags (true: window) or a number n: every
// n-th layer has full attention, all others a window. Without the key, n is `period`.
Json layer_types(GgufMetadata& in, Index layers, Index period) {
  const std::string key = "attention.sliding_window_pattern";
  std::vector<bool> slides;
  if (in.is_list(key)) {
    slides = in.flags(key, layers);
  } else {
    period = in.integer_or(key, period, 1, 1024);
    for (Index n = 0; n < layers; ++n) slides.push_back((n + 1) % period != 0);
  }
  std::vector<std::string> types;
  for (const bool slide : slides) types.push_back(slide ? "sliding_attention" : "full_attention");
  return types;
}

// Adds windows in the layers that layer_types() lists; a window of 0 means none.
void add_windows(GgufMetadata& in, GgufLayout& layout, Index period, Index default_window = 0) {
  const Index window =
      in.integer_or("attention.sliding_window", default_window, 0, kMaxModelTokens);
  layout.config["layer_types"] = layer_types(in, layout.sizes.layers, window > 0 ? period : 1);
  if (window > 0) layout.config["sliding_window"] = window;
}

GgufLayout read_gemma(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "gemma");
  add_rope(in, layout.sizes, layout.config);
  layout.config["hidden_activation"] = "gelu_pytorch_tanh";
  layout.config["norm_gain_offset"] = 0;  // the stored gains include the 1
  return layout;
}

// Common parts of Gemma 2 and 3. Files do not store the score scale. As in llama.cpp, the scale is
// 1/sqrt(head size), but 1/sqrt(width / heads) for models with `odd_layers` layers.
void add_gemma2(GgufMetadata& in, GgufLayout& layout, Index odd_layers) {
  const GgufSizes& sizes = layout.sizes;
  Json& config = layout.config;
  config["hidden_activation"] = "gelu_pytorch_tanh";
  config["norm_gain_offset"] = 0;
  config["query_pre_attn_scalar"] =
      sizes.layers == odd_layers ? sizes.width / sizes.heads : sizes.head_size;
  config["attn_logit_softcapping"] = in.number_or("attn_logit_softcapping", 0, 0, 1e6);
  config["final_logit_softcapping"] = in.number_or("final_logit_softcapping", 0, 0, 1e6);
  set_names(layout.stacks[0].names, {{"post_attention_norm", "post_attention_layernorm"},
                                     {"ffn_norm", "pre_feedforward_layernorm"},
                                     {"post_ffw_norm", "post_feedforward_layernorm"}});
}

GgufLayout read_gemma2(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "gemma2");
  add_rope(in, layout.sizes, layout.config);
  in.require_number("rope.freq_base_swa", layout.config["rope_theta"].get<double>());
  add_gemma2(in, layout, 46);
  add_windows(in, layout, 2, 4096);
  return layout;
}

GgufLayout read_gemma3(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "gemma3_text");
  add_rope(in, layout.sizes, layout.config);
  add_gemma2(in, layout, 62);
  add_windows(in, layout, 6);
  layout.config["rope_local_base_freq"] = in.number_or("rope.freq_base_swa", 10000, 1e-3, 1e18);
  return layout;
}

GgufLayout read_phi3(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "phi3");
  add_rope(in, layout.sizes, layout.config);
  const Index window = in.integer_or("attention.sliding_window", 0, 0, kMaxModelTokens);
  if (window > 0) layout.config["sliding_window"] = window;
  set_names(layout.stacks[0].names,
            {{"attn_qkv", "self_attn.qkv_proj"}, {"ffn_up", "mlp.gate_up_proj"}});
  return layout;
}

GgufLayout read_stablelm(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "stablelm", Norm::LayerNorm);
  add_rope(in, layout.sizes, layout.config);
  layout.config["use_qkv_bias"] = has_in_layer(in, "attn_q.bias");
  // Converters set use_parallel_residual for all models; only parallel models lack ffn_norm.
  layout.config["use_parallel_residual"] = !has_in_layer(in, "ffn_norm.weight");
  in.ignore("use_parallel_residual");
  return layout;
}

GgufLayout read_olmo(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "olmo", Norm::LayerNorm);
  add_rope(in, layout.sizes, layout.config, {.whole_head = true});
  layout.rotates_neighbours = true;
  in.require_number("attention.layer_norm_epsilon", 1e-5);
  in.require_number("attention.clamp_kqv", 0);
  return layout;
}

// OLMo 2, or OLMo 3 if the file has a window.
GgufLayout read_olmo2(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "olmo2");
  add_rope(in, layout.sizes, layout.config);
  if (in.has("attention.sliding_window")) {
    layout.config["model_type"] = "olmo3";
    add_windows(in, layout, 4);
    in.require_number("rope.freq_base_swa", layout.config["rope_theta"].get<double>());
  }
  set_names(layout.stacks[0].names, {{"post_attention_norm", "post_attention_layernorm"},
                                     {"post_ffw_norm", "post_feedforward_layernorm"}});
  return layout;
}

GgufLayout read_granite(GgufMetadata& in) {
  GgufLayout layout = permuted_llama(in, "granite");
  Json& config = layout.config;
  // The default score scale is 1/sqrt(head size).
  const double scale = 1 / std::sqrt(static_cast<double>(layout.sizes.head_size));
  config["attention_multiplier"] = in.number_or("attention.scale", scale, 0, 1e6);
  config["embedding_multiplier"] = in.number_or("embedding_scale", 1, -1e6, 1e6);
  config["residual_multiplier"] = in.number_or("residual_scale", 1, -1e6, 1e6);
  config["logits_scaling"] = in.number_or("logit_scale", 1, 1e-6, 1e6);
  return layout;
}

GgufLayout read_command_r(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "cohere", Norm::LayerNorm);
  add_rope(in, layout.sizes, layout.config);
  layout.config["logit_scale"] = in.number("logit_scale", -1e6, 1e6);
  return layout;
}

GgufLayout read_smollm3(GgufMetadata& in) {
  GgufLayout layout = permuted_llama(in, "smollm3");
  layout.config["no_rope_layer_interval"] = 4;  // as llama.cpp assumes
  return layout;
}

GgufLayout read_gpt_oss(GgufMetadata& in) {
  GgufLayout layout = llama_like(in, "gpt_oss");
  add_rope(in, layout.sizes, layout.config, {.truncate = false});
  add_experts(in, layout);
  const Index hidden =
      in.integer_or("expert_feed_forward_length", layout.sizes.hidden, 1, 8 * kMaxModelWidth);
  layout.config["intermediate_size"] = hidden;
  add_windows(in, layout, 2);
  layout.experts = {"mlp.experts.", "gate_proj", "up_proj", "down_proj"};
  set_names(layout.stacks[0].names, {{"post_attention_norm", "post_attention_layernorm"},
                                     {"attn_sinks.weight", "self_attn.sinks"},
                                     {"attn_sinks", "self_attn.sinks"},
                                     {"ffn_gate_inp", "mlp.router"}});
  return layout;
}

}  // namespace

GgufLayout llama_like(GgufMetadata& in, const std::string& model_type, Norm norm) {
  GgufLayout layout;
  layout.sizes = gguf_sizes(in);
  const GgufSizes& sizes = layout.sizes;
  Json& config = layout.config = Json::object();
  config["model_type"] = model_type;
  config["vocab_size"] = sizes.vocabulary;
  config["max_position_embeddings"] = sizes.context;
  config["hidden_size"] = sizes.width;
  config["num_hidden_layers"] = sizes.layers;
  config["num_attention_heads"] = sizes.heads;
  config["num_key_value_heads"] = sizes.kv_heads;
  config["head_dim"] = sizes.head_size;
  config["intermediate_size"] = sizes.hidden;
  config["hidden_act"] = "silu";
  config["attention_bias"] = has_in_layer(in, "attn_q.bias") || has_in_layer(in, "attn_qkv.bias");
  if (norm == Norm::RmsNorm) {
    config["rms_norm_eps"] = in.number("attention.layer_norm_rms_epsilon", 0, 1);
  } else {
    config["layer_norm_eps"] = in.number("attention.layer_norm_epsilon", 0, 1);
  }
  in.require_flag("attention.causal", true);
  layout.names = {
      {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
  layout.stacks = {{"blk.", "model.layers.", llama_layer_names()}};
  return layout;
}

std::vector<GgufArchitecture> gguf_llama_architectures() {
  return {{"llama", read_llama},        {"qwen2", read_qwen2},         {"qwen3", read_qwen3},
          {"qwen2moe", read_qwen2_moe}, {"qwen3moe", read_qwen3_moe},  {"gemma", read_gemma},
          {"gemma2", read_gemma2},      {"gemma3", read_gemma3},       {"phi3", read_phi3},
          {"stablelm", read_stablelm},  {"olmo", read_olmo},           {"olmo2", read_olmo2},
          {"granite", read_granite},    {"command-r", read_command_r}, {"smollm3", read_smollm3},
          {"gpt-oss", read_gpt_oss}};
}

}  // namespace attnscope
