// Every weight of a model by name and shape: what make_model() creates, what a checkpoint must
// hold, what training updates. The only place where the names and shapes are said.
//
//   embed.weight                    [vocabulary, d]
//   embed.NAME                      of an encoding of the input, as its Info says
//   embed.type                      [types, d]       kinds of tokens
//   embed.norm.weight               [d]              (.bias) behind all that is added
//   embed.project.w, .b             [e, d], [d]      of a table that is e wide, then also [.., e]
//   above layers.N.attn_norm.weight       [d]              (.bias [d] for LayerNorm)
//   layers.N.attn.wq, wk, wv        [d, h d_k], [d, h_kv d_k] twice  (bq, bk, bv with biases)
//   layers.N.attn.wo                [h d_k, d]       (bo)
//   layers.N.attn.q_norm, k_norm    .weight [d_k], or [h d_k], [h_kv d_k]; with query_key_norm
//   layers.N.attn.sinks             [h]              with attention_sinks
//   layers.N.attn_output_norm       [d]              with output_norm, as ffn_output_norm
//   layers.N.groups.G.NAME          of head group G's variant and encoding, as their Infos say
//   layers.N.ffn_norm.weight        [d]              (.bias)
//   layers.N.ffn.w_gate, w_in       [d, hidden]      (b_gate, b_in)
//   layers.N.ffn.w_out              [hidden, d]      (b_out)
//   layers.N.ffn.router             [d, experts]     (router_bias); then the three above are
//                                                    those of layers.N.ffn.experts.E
//   final_norm.weight               [d]              (.bias), pre-norm only
//   output.transform.w, .b, .norm   [d, e], [e]      before the table of tokens (e: d or its width)
//   output.weight                   [d, vocabulary], unless tied
//   output.bias                     [vocabulary]     where the head has one
// Of an adaptive vocabulary, in place of embed.weight and output.weight, with clusters of n tokens
// whose vectors have e numbers:
//   embed.cluster.C.table, .project     [n, e], [e, d]
//   output.cluster.C.project, .table    [d, e], [n, e] unless tied
//   output.choice.w, .b                 [d, clusters - 1]  of each cluster behind the first
// Of layers that share (own_layers) only the first of each run has attn, ffn and norms.
//
// Matrices are [in, out]: y = x w + b.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/model/config.h"

namespace attnscope {

// SPEC-MODELS says the names of what architectures, joins, exits and inputs add; their Infos add
// them. An encoder's begin with "encoder.".
struct WeightSpec {
  std::string name{};
  Shape shape{};
  // What a fresh model starts from. Deterministic in the seed; empty where an optional weight
  // has no initial value.
  std::function<Tensor(std::uint64_t seed)> initial{};
  bool optional = false;
  std::string owner{};  // the id of what asks for it (a variant, an architecture); empty: the block
  bool constant = false;  // not trained, see WeightInfo
  double most = 0;        // what it is at most and moves in shares of; 0: see WeightInfo::most
  std::string help{};     // what its Info says of it: "The span of each head."
};

std::vector<WeightSpec> weight_specs(const ModelConfig& config);
Index parameter_count(const ModelConfig& config);

// Collects the specs of a model in the order in which they are used.
class WeightList {
 public:
  explicit WeightList(const ModelConfig& config) : config_(config) {}
  const ModelConfig& config() const { return config_; }
  std::vector<WeightSpec> take() { return std::move(specs_); }

  // The id of what asks for the following; empty: the block itself.
  void set_owner(std::string owner) { owner_ = std::move(owner); }
  // In words what the following belong to, where no Info says it: "The encoder."; empty: nothing.
  void set_help(std::string help) { help_ = std::move(help); }
  void constant(const std::string& name, const Shape& shape, float value);
  // Normal, deviation 0.02 as in GPT-2; `residual`: of what is added to the residual stream, less
  // with depth.
  void matrix(const std::string& name, const Shape& shape, bool residual = false);
  void random(const std::string& name, const Shape& shape, double deviation);
  void norm(const std::string& name, Index width = 0);  // 0: the model's
  // prefix + "w" + letter [in, out], and a bias "b".
  void linear(const std::string& prefix, const std::string& letter, Index in, Index out, bool bias,
              bool residual = false);
  // What an Info asks for.
  void of(const Info& info, const Values& values, const Dimensions& dimensions,
          const std::string& prefix);
  void of_model(const Info& info, const Values& values);
  // A layer's norm, projections and what its groups ask for, its feed-forward. prefix: "layers.3."
  // own: whether it has projections, norms and a feed-forward, or uses those of another.
  void layer(const std::string& prefix, const std::vector<HeadGroup>& groups, bool cross,
             bool own = true);
  // Norm and projections of one attention: `name` "attn" or "cross".
  void attention(const std::string& prefix, const std::string& name);
  void feed_forward(const std::string& prefix);  // prefix: "layers.3.ffn."
  // Tokens' vectors, what an encoding of the input adds to them ...
  void embedding();
  void clusters(const std::string& stack, bool tables);  // of an adaptive vocabulary
  // ... for this stack: "" or "encoder.".
  void positions(const std::string& stack, const std::vector<std::vector<HeadGroup>>& groups);
  // ... and what comes behind that: kinds of tokens, norm, projection.
  void behind_positions(const std::string& stack);
  // Layers "layers.N." below `stack`, and the norm behind them.
  void stack(const std::string& stack, const std::vector<std::vector<HeadGroup>>& groups,
             bool cross);
  void output();  // the projection to logits, unless tied, and what is around it

 private:
  void add(WeightSpec spec);
  const ModelConfig& config_;
  std::string owner_, help_;
  std::vector<WeightSpec> specs_;
};

// The names of weights that training leaves as they are: drawn features, masks, graphs.
std::set<std::string> untrained_names(const ModelConfig& config);
// What those are at most that training keeps from 0 to that (WeightInfo::most), by name.
std::map<std::string, double> most_of_weights(const ModelConfig& config);

// "layers.3.groups.0."
std::string group_prefix(Index layer, Index group);
std::string layer_prefix(Index layer);  // "layers.3."
// The weights whose names begin so, by what follows.
NamedVars weights_below(const NamedVars& weights, const std::string& prefix);

}  // namespace attnscope
