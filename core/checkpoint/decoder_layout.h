// Decoder layouts of the Hugging Face libraries. A layout translates config.json and lists its
// tensor names; one reader loads the weights of all layouts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/model/config.h"

namespace attnscope {

// Tensor names of a layout without ".weight" and ".bias". The defaults are Llama's. A name is empty
// if the layout has no such tensor.
struct DecoderNames {
  // Possible prefixes of the names below; the first that the checkpoint uses applies.
  std::vector<std::string> prefixes{"model.", ""};
  std::string embedding = "embed_tokens", positions, embedding_norm;
  Index skipped_positions = 0;              // unused first rows of the position table
  std::string projected_in, projected_out;  // for an embedding narrower than the model (OPT)
  bool tied_projection = true;              // the narrow embedding is also the output head
  std::string layers = "layers.", final_norm = "norm";
  std::string head = "lm_head";  // without a prefix

  // Names within a layer.
  std::string attn_norm = "input_layernorm", ffn_norm = "post_attention_layernorm";
  std::string attn_output_norm, ffn_output_norm;
  std::string q = "self_attn.q_proj", k = "self_attn.k_proj", v = "self_attn.v_proj";
  std::string o = "self_attn.o_proj";
  std::string q_norm = "self_attn.q_norm", k_norm = "self_attn.k_norm";
  std::string sinks = "self_attn.sinks";  // without ".weight"
  // Fused matrix of q, k and v. Rows: all queries, all keys, all values. If `qkv_by_head`: for each
  // key-value head, its queries, key and value.
  std::string qkv;
  bool qkv_by_head = false;
  std::string gate = "mlp.gate_proj", in = "mlp.up_proj", out = "mlp.down_proj";
  std::string gate_in;          // fused matrix of gate and in
  std::string router, experts;  // `experts`: prefix of "INDEX." and a name below
  std::string expert_gate, expert_in, expert_out;
  // Shared expert of all tokens: matrix of its gate, [1, d], and prefix of the names above.
  std::string shared_gate, shared_expert;
  // Prefix of gpt-oss's tensors of all experts, with gate and in interleaved. Unused if the
  // checkpoint has tensors with the names above.
  std::string fused_experts;

  // Number added to stored RMS norm gains: 1 for Gemma, but 0 if gguf_config() wrote the config.
  double gain_offset = 0;
  bool has_gains = true;                                              // norms have weights
  std::vector<std::string> ignored{"self_attn.rotary_emb.inv_freq"};  // unused tensors of a layer
};

struct DecoderLayout {
  ModelConfig config;
  DecoderNames names;
  std::vector<std::string> ignored_keys{};  // of config.json, which the libraries ignore as well
};

// Format whose config.json `read` translates, after the removal of null members.
CheckpointFormat decoder_format(std::string model_type, DecoderLayout (*read)(JsonObject& config));

// All decoder formats.
std::vector<CheckpointFormat> decoder_formats();

// Config keys of a layout and their defaults. The initial values are Llama's.
struct SizeNames {
  const char *context = "max_position_embeddings", *width = "hidden_size",
             *layers = "num_hidden_layers", *heads = "num_attention_heads",
             *kv_heads = "num_key_value_heads", *hidden = "intermediate_size",
             *activation = "hidden_act", *epsilon = "rms_norm_eps";
  Index default_context = 2048;
  double default_epsilon = 1e-6;
  const char* default_activation = "silu";
  bool tied_by_default = false;
  bool hidden_is_optional = false;  // if missing: four times the width
};
// Reads the sizes of a model with RMS norms and gated feed-forward blocks.
ModelConfig decoder_sizes(JsonObject& config, const SizeNames& names = {});
// Names of layouts that follow GPT-2: "n_embd", tensors "transformer.h.0.ln_1".
SizeNames gpt2_size_names();
DecoderNames gpt2_names();
// Reads the sizes of a model with layer norms and ungated feed-forward blocks.
ModelConfig layer_norm_sizes(JsonObject& config, const SizeNames& names);

// Options of hugging_face_rope(), which reads rope_theta and rope_scaling, or rope_parameters.
struct RopeSettings {
  double base = 10000;
  double share = 1;      // rotary share of a head's components
  bool partial = false;  // reads the share from "partial_rotary_factor", which others ignore
  bool interleaved = false;
  // Only for layers of this type ("sliding_attention"); rope_parameters is then keyed by type.
  const char* layer_type = nullptr;
  bool scaled = true;  // false: rope_scaling is ignored
};
Choice hugging_face_rope(JsonObject& config, const ModelConfig& model,
                         const RopeSettings& settings = {});

// Attention to the last `window` tokens, including the token itself. A window of at least the
// context counts, too: longer texts than the context can be read (--overlong all).
Choice window_variant(Index window);
// window_variant() for the config's "sliding_window"; full attention if the config has no such key.
Choice configured_window_variant(JsonObject& config);
// True for layers with a sliding window: by "layer_types" if set, else by fallback(layer, every).
std::vector<bool> sliding_layers(JsonObject& config, const ModelConfig& model,
                                 bool (*fallback)(Index layer, Index every), Index every = 0);
// Sets each layer's variant and encoding: variant `window` if slides[layer], else full attention.
void set_groups(ModelConfig& model, const std::vector<bool>& slides, const Choice& window,
                const Choice& position);
// Also sets the position encoding of layers with a sliding window to `window_position`.
void set_groups(ModelConfig& model, const std::vector<bool>& slides, const Choice& window,
                const Choice& position, const Choice& window_position);

// Layouts by family, one file each.
CheckpointFormat llama_format();
CheckpointFormat mistral_format();
CheckpointFormat mixtral_format();
CheckpointFormat qwen2_format();
CheckpointFormat qwen2_moe_format();
CheckpointFormat qwen3_format();
CheckpointFormat qwen3_moe_format();
CheckpointFormat smollm3_format();
CheckpointFormat olmo_format();
CheckpointFormat olmo2_format();
CheckpointFormat olmo3_format();
CheckpointFormat gemma_format();
CheckpointFormat gemma2_format();
CheckpointFormat gemma3_format();
CheckpointFormat phi_format();
CheckpointFormat phi3_format();
CheckpointFormat gpt_neox_format();
CheckpointFormat gptj_format();
CheckpointFormat gpt_neo_format();
CheckpointFormat opt_format();
CheckpointFormat bloom_format();
CheckpointFormat falcon_format();
CheckpointFormat gpt_oss_format();
CheckpointFormat mpt_format();
CheckpointFormat starcoder2_format();
CheckpointFormat gpt_bigcode_format();
CheckpointFormat stablelm_format();
CheckpointFormat cohere_format();
CheckpointFormat granite_format();

}  // namespace attnscope
