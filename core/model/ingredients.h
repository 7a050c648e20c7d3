// What published decoders and encoders vary in their blocks, embeddings and outputs: members of
// ModelConfig that are left out of config.json where they are as in Llama.
#pragma once

#include <optional>
#include <string>

#include "core/base/index.h"
#include "core/base/json.h"

namespace attnscope {

class JsonObject;
struct ModelConfig;

// A norm of what a block adds to the stream, of a model whose norms come before its blocks.
enum class OutputNorm {
  None,
  Also,     // beside the norm before the block: Gemma 2 (Gemma team, 2024, arXiv:2408.00118)
  Instead,  // in its place: OLMo 2 (OLMo team, 2024, arXiv:2501.00656)
};

// The norm of queries and keys, before they are turned (Henry et al., 2020, arXiv:2010.04245;
// Dehghani et al., 2023, arXiv:2302.05442).
enum class QueryKeyNorm {
  None,
  Head,        // of each head by itself, with one gain [d_k] for all of them: Qwen 3, Gemma 3
  Projection,  // of all heads' numbers together, gain [h d_k]: OLMo 2
};

// A mixture of experts in place of each feed-forward (Shazeer et al., 2017, arXiv:1701.06538;
// Jiang et al., 2024, arXiv:2401.04088): a router gives every token the `chosen` experts with the
// largest logits, whose outputs are summed with the softmax of the logits as gates.
struct Experts {
  Index count = 0;  // 0: one feed-forward
  Index chosen = 2;
  bool renormalised = true;  // softmax over the chosen ones alone, else over all
  bool router_bias = false;
  bool operator==(const Experts&) const = default;
};

// In the order of a pass. The defaults change nothing.
struct Ingredients {
  double embedding_scale = 1;  // tokens' vectors times this: sqrt(d) in Gemma
  bool norm_biases = true;     // of layer norms
  OutputNorm output_norm = OutputNorm::None;
  // x + Attn(x) + FF(x), both made from what enters the layer: GPT-J, GPT-NeoX
  bool parallel = false;
  bool shared_norm = false;                   // ... and from one norm of it
  std::optional<bool> attention_output_bias;  // empty: as attention_biases
  QueryKeyNorm query_key_norm = QueryKeyNorm::None;
  std::optional<double> attention_scale;  // of the products of queries and keys; empty: 1/sqrt(d_k)
  double score_cap = 0;  // c: scores become c tanh(s / c) (Gemma 2); 0: they stay as they are
  // A learned score of each head that takes part in the softmax and has no value: rows of weights
  // sum to less than 1 (gpt-oss; Xiao et al., 2023, arXiv:2309.17453).
  bool attention_sinks = false;
  double residual_scale = 1;  // what a block adds times this: Granite
  Experts experts;
  // Of gated feed-forwards: the gate's input is at most this and the other factor within +- this;
  // 0: no limit. Then the other factor gains the offset (gpt-oss: 7 and 1).
  double gate_limit = 0, gate_offset = 0;
  double logit_scale = 1, logit_cap = 0;  // of the output's logits, then capped as scores are
  bool output_head = true;                // else there are attention and states, and no logits
  bool operator==(const Ingredients&) const = default;
};

// Whether a block's norm comes before it.
bool norm_before(const ModelConfig& config);
bool has_output_bias(const ModelConfig& config);  // of the attention's output

void read_ingredients(JsonObject& object, Ingredients& ingredients);
void add_ingredients(const Ingredients& ingredients, Json& object);  // those that change something
// "shared_norm: expected ..."; empty: they go together.
std::string ingredients_refusal(const ModelConfig& config);

}  // namespace attnscope
