// Decoders as the Hugging Face libraries store them: each layout says what its config means and how
// its tensors are called; one reader does the rest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/model/config.h"

namespace attnscope {

// Where the names of a layout's tensors are not Llama's. Empty: there is no such tensor. ".weight"
// and ".bias" follow.
struct DecoderNames {
  // What all names of the stack begin with, the first that fits.
  std::vector<std::string> prefixes{"model.", ""};
  std::string embedding = "embed_tokens", positions, embedding_norm;
  Index skipped_positions = 0;              // rows of the table of positions that no position has
  std::string projected_in, projected_out;  // between a narrower table and the stream (OPT)
  std::string layers = "layers.", final_norm = "norm";
  std::string head = "lm_head";  // beside the stack

  // Below a layer.
  std::string attn_norm = "input_layernorm", ffn_norm = "post_attention_layernorm";
  std::string attn_output_norm, ffn_output_norm;
  std::string q = "self_attn.q_proj", k = "self_attn.k_proj", v = "self_attn.v_proj";
  std::string o = "self_attn.o_proj";
  std::string q_norm = "self_attn.q_norm", k_norm = "self_attn.k_norm";
  std::string sinks = "self_attn.sinks";  // without ".weight"
  // All of q, k and v in one matrix, in place of the three; by_head: of each key-value head its
  // queries, its key and its value, else first all queries.
  std::string qkv;
  bool by_head = false;
  std::string gate = "mlp.gate_proj", in = "mlp.up_proj", out = "mlp.down_proj";
  std::string gate_in;          // gate and in, one after the other, in one matrix
  std::string router, experts;  // "experts.": then N and the three names
  std::string expert_gate, expert_in, expert_out;
  std::string
      joined_experts;  // gpt-oss: all experts in one tensor, [in, out], gate and in by turns

  double gain = 0;    // what gains of RMS norms are stored less: 1 in Gemma
  bool gains = true;  // norms have weights
  std::vector<std::string> ignored{"self_attn.rotary_emb.inv_freq"};  // buffers below a layer
};

struct DecoderLayout {
  ModelConfig config;
  DecoderNames names;
};

// read: from config.json without its nulls. InputErrors begin with the file's name.
CheckpointFormat decoder_format(std::string model_type, DecoderLayout (*read)(JsonObject& config));

// All that are read so.
std::vector<CheckpointFormat> decoder_formats();

// What Llama and most after it call their sizes; norms, activation, ties as in Llama.
struct SizeNames {
  const char *context = "max_position_embeddings", *width = "hidden_size",
             *layers = "num_hidden_layers", *heads = "num_attention_heads",
             *kv_heads = "num_key_value_heads", *hidden = "intermediate_size",
             *activation = "hidden_act", *epsilon = "rms_norm_eps";
  Index usual_context = 2048;
  double usual_epsilon = 1e-6;
  const char* usual_activation = "silu";
  bool usually_tied = false;
  bool hidden_is_optional = false;  // four times the width
};
ModelConfig decoder_sizes(JsonObject& config, const SizeNames& names = {});
// Of layouts that are called as GPT-2's is: "n_embd", and tensors "transformer.h.0.ln_1".
SizeNames gpt2_size_names();
DecoderNames gpt2_names();
// Two matrices and an activation between them, layer norms.
ModelConfig plain_sizes(JsonObject& config, const SizeNames& names);

// RoPE as rope_theta and rope_scaling say, or rope_parameters, which has both.
struct RopeSettings {
  double base = 10000;
  double share = 1;  // of a head's components that turn: partial_rotary_factor
  bool interleaved = false;
  // Of layers of this type alone ("sliding_attention"); then rope_parameters is by type.
  const char* layer_type = nullptr;
  bool scaled = true;  // whether rope_scaling holds for it
};
Choice hugging_face_rope(JsonObject& config, const ModelConfig& model,
                         const RopeSettings& settings = {});

// Attention to the last `window` tokens, the token itself among them; to all where it has no effect
// within the context.
Choice sliding(const ModelConfig& model, Index window);
// The same of "sliding_window", where there is one.
Choice sliding_window(JsonObject& config, const ModelConfig& model);
// Which layers slide: by "layer_types", else as `otherwise` says.
std::vector<bool> sliding_layers(JsonObject& config, const ModelConfig& model,
                                 bool (*otherwise)(Index layer, Index every), Index every = 0);
// Groups of layers with full or sliding attention.
void set_groups(ModelConfig& model, const std::vector<bool>& slides, const Choice& window,
                const Choice& position);
// With positions of their own for those that slide.
void set_groups(ModelConfig& model, const std::vector<bool>& slides, const Choice& window,
                const Choice& position, const Choice& position_of_windows);

// The layouts, by families; a file each.
CheckpointFormat llama_format();
CheckpointFormat mistral_format();
CheckpointFormat mixtral_format();
CheckpointFormat qwen2_format();
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
CheckpointFormat starcoder2_format();
CheckpointFormat gpt_bigcode_format();
CheckpointFormat stablelm_format();
CheckpointFormat cohere_format();
CheckpointFormat granite_format();

}  // namespace attnscope
