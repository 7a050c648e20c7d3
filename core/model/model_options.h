// Options of published models for blocks, embeddings and outputs. The defaults are those of Llama
// and are omitted from config.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/index.h"
#include "core/base/json.h"

namespace attnscope {

class JsonObject;
struct ModelConfig;

// Norm of a block's output in pre-norm models.
enum class OutputNorm {
  None,
  Also,     // before and after the block: Gemma 2 (Gemma team, 2024, arXiv:2408.00118)
  Instead,  // after the block instead of before: OLMo 2 (OLMo team, 2024, arXiv:2501.00656)
};

// Norm of queries and keys, before rotation (Henry et al., 2020, arXiv:2010.04245; Dehghani et
// al., 2023, arXiv:2302.05442).
enum class QueryKeyNorm {
  None,
  Head,        // per head, with one gain [d_k] for all heads: Qwen 3, Gemma 3
  Projection,  // over all heads together, gain [h d_k]: OLMo 2
};

// Mixture of experts instead of each feed-forward (Shazeer et al., 2017, arXiv:1701.06538; Jiang et
// al., 2024, arXiv:2401.04088): a router assigns to each token the `chosen` experts with the
// largest logits; their outputs are summed with the softmax of the logits as gates. An
// optional shared expert processes all tokens; a sigmoid gates its output (Qwen team, 2024,
// arXiv:2407.10671).
struct Experts {
  Index count = 0;  // 0: a single feed-forward
  Index chosen = 2;
  bool renormalised = true;  // true: softmax over the chosen experts; false: over all
  bool router_bias = false;
  Index shared_hidden = 0;  // width of the shared expert; 0: none
  // Indices of layers with a single feed-forward of width `dense_hidden` instead of experts,
  // ascending. Only for models with one stack of layers.
  std::vector<Index> dense_layers{};
  Index dense_hidden = 0;
  bool operator==(const Experts&) const = default;
};

// Options in the order of a forward pass. The defaults have no effect.
struct ModelOptions {
  double embedding_scale = 1;  // factor of token vectors: sqrt(d) in Gemma
  bool norm_biases = true;     // layer norms have biases
  OutputNorm output_norm = OutputNorm::None;
  // x + Attn(x) + FF(x), both from the layer's input: GPT-J, GPT-NeoX
  bool parallel = false;
  bool shared_norm = false;                   // with `parallel`: Attn and FF share one norm of x
  std::optional<bool> attention_output_bias;  // empty: as attention_biases
  QueryKeyNorm query_key_norm = QueryKeyNorm::None;
  std::optional<double> attention_scale;  // factor of query-key products; empty: 1/sqrt(d_k)
  double score_cap = 0;                   // c: scores become c tanh(s / c) (Gemma 2); 0: no cap
  // Adds a learned score per head to the softmax, but no value, so that weights sum to less than 1
  // (gpt-oss; Xiao et al., 2023, arXiv:2309.17453).
  bool attention_sinks = false;
  double residual_scale = 1;  // factor of block outputs: Granite
  Experts experts;
  // Gated feed-forwards compute activation(g) * u. gate_limit bounds g from above and |u| (0: no
  // limit); gate_offset is then added to u (gpt-oss: 7 and 1).
  double gate_limit = 0, gate_offset = 0;
  double logit_scale = 1, logit_cap = 0;  // scale and cap (as score_cap) of the output logits
  bool output_head = true;                // false: attention and states only, no logits
  bool operator==(const ModelOptions&) const = default;
};

// True if a norm comes before each block, and before the output.
bool has_input_norm(const ModelConfig& config);
bool has_final_norm(const ModelConfig& config);
bool has_output_bias(const ModelConfig& config);  // attention output projection has a bias

void read_model_options(JsonObject& object, ModelOptions& model_options);
void add_model_options(const ModelOptions& model_options, Json& object);  // non-default values only
// Reason why the options are incompatible ("shared_norm: expected ..."); empty: none.
std::string model_options_refusal(const ModelConfig& config);

}  // namespace attnscope
