// Every weight of a model by name and shape: what make_model() creates, what a checkpoint must
// hold, what training updates. The only place where the names and shapes are said.
//
//   embed.weight                    [vocabulary, d]
//   embed.NAME                      of an encoding of the input, as its Info says
//   layers.N.attn_norm.weight       [d]              (.bias [d] for LayerNorm)
//   layers.N.attn.wq, wk, wv        [d, h d_k], [d, h_kv d_k] twice  (bq, bk, bv with biases)
//   layers.N.attn.wo                [h d_k, d]       (bo)
//   layers.N.groups.G.NAME          of head group G's variant and encoding, as their Infos say
//   layers.N.ffn_norm.weight        [d]              (.bias)
//   layers.N.ffn.w_gate, w_in       [d, hidden]      (b_gate, b_in)
//   layers.N.ffn.w_out              [hidden, d]      (b_out)
//   final_norm.weight               [d]              (.bias), pre-norm only
//   output.weight                   [d, vocabulary], unless tied
//
// Matrices are [in, out]: y = x w + b.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/model/config.h"

namespace attnscope {

struct WeightSpec {
  std::string name;
  Shape shape;
  // What a fresh model starts from. Deterministic in the seed; empty where an optional weight
  // has no initial value.
  std::function<Tensor(std::uint64_t seed)> initial;
  bool optional = false;
  std::string owner;  // variant or encoding id that asks for it; empty: the block itself
};

std::vector<WeightSpec> weight_specs(const ModelConfig& config);
Index parameter_count(const ModelConfig& config);

// "layers.3.groups.0."
std::string group_prefix(Index layer, Index group);
std::string layer_prefix(Index layer);  // "layers.3."

}  // namespace attnscope
