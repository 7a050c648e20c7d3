// Weights of a model by name and shape, as created by make_model(), required of checkpoints and
// updated by training. This is the only definition of the names and shapes.
//
//   embed.weight                    [vocabulary, d]
//   embed.NAME                      of an input encoding, as in its Info
//   embed.type                      [types, d]       token types
//   embed.norm.weight               [d]              (.bias) after all additions
//   embed.project.w, .b             [e, d], [d]      if embed.weight is [vocabulary, e]
//   layers.N.attn_norm.weight       [d]              (.bias [d] for LayerNorm)
//   layers.N.attn.wq, wk, wv        [d, h d_k], wk and wv [d, h_kv d_k]  (bq, bk, bv with biases)
//   layers.N.attn.wo                [h d_k, d]       (bo)
//   layers.N.attn.q_norm, k_norm    .weight [d_k], or [h d_k], [h_kv d_k]; with query_key_norm
//   layers.N.attn.sinks             [h]              with attention_sinks
//   layers.N.attn_output_norm       [d]              with output_norm; also ffn_output_norm
//   layers.N.groups.G.NAME          of head group G's variant and encoding, as in their Infos
//   shared.NAME                     the same, if all layers share it (WeightInfo)
//   layers.N.ffn_norm.weight        [d]              (.bias)
//   layers.N.ffn.w_gate, w_in       [d, hidden]      (b_gate, b_in)
//   layers.N.ffn.w_out              [hidden, d]      (b_out)
//   layers.N.ffn.in_kernel          [3, d]           out_kernel [5, hidden]; with separable
//                                                    convolutions (separable_convolution.h)
//   layers.N.ffn.router             [d, experts]     (router_bias); w_gate, w_in and w_out are then
//                                                    in layers.N.ffn.experts.E
//   layers.N.ffn.shared_gate        [d, 1]           with shared_hidden; w_gate, w_in and
//                                                    w_out are then also in layers.N.ffn.shared
//   final_norm.weight               [d]              (.bias), pre-norm only
//   output.transform.w, .b, .norm   [d, e], [e], [e] before the token table of width e
//   output.weight                   [d, vocabulary], unless tied
//   output.bias                     [vocabulary]     if the head has one
// With an adaptive vocabulary, whose clusters have n tokens and vectors of width e, these replace
// embed.weight and output.weight:
//   embed.cluster.C.table, .project     [n, e], [e, d]
//   output.cluster.C.project, .table    [d, e], [n, e] unless tied
//   output.choice.w, .b                 [d, clusters - 1]  for each cluster after the first
// softmax adaptive replaces output.weight by output.cluster.C.table and .project (clusters as wide
// as the model have none) and output.choice; softmax mixture with K components adds
//   output.mixture.w, .b, .prior        [d, K d], [K d], [d, K]
// Among layers that share weights (own_layers), only the first has attn, ffn and norms.
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

// spec-models.md lists the weights of architectures, residual connections, exits and inputs; their
// Infos define them. Names of encoder weights begin with "encoder.".
struct WeightSpec {
  std::string name{};
  Shape shape{};
  // Initial value, deterministic in the seed; empty: an optional weight without initial value.
  std::function<Tensor(std::uint64_t seed)> initial{};
  bool optional = false;
  std::string owner{};     // id of the variant, architecture, ... with this weight; empty: a block
  bool constant = false;   // not trained by gradients (WeightTraining)
  double upper_bound = 0;  // upper limit and factor of updates (WeightTraining::max); 0: none
  std::string help{};      // help text of the weight's Info: "The span of each head."
};

std::vector<WeightSpec> weight_specs(const ModelConfig& config);
Index parameter_count(const ModelConfig& config);

// Collects the weight specs of a model in order of use.
class WeightList {
 public:
  explicit WeightList(const ModelConfig& config) : config_(config) {}
  const ModelConfig& config() const { return config_; }
  std::vector<WeightSpec> take() { return std::move(specs_); }

  // Sets the id of the owner of the following weights; empty: a block.
  void set_owner(std::string owner) { owner_ = std::move(owner); }
  // Sets the help text of the following weights without an Info ("The encoder."); empty: none.
  void set_help(std::string help) { help_ = std::move(help); }
  void constant(const std::string& name, const Shape& shape, float value);
  // Normal distribution with deviation 0.02 as in GPT-2, divided by sqrt(2 layers) if `residual`:
  // for weights whose output is added to the residual stream.
  void matrix(const std::string& name, const Shape& shape, bool residual = false);
  void random(const std::string& name, const Shape& shape, double deviation);
  void norm(const std::string& name, Index width = 0);  // width 0: the model width
  // Adds a matrix of a block ("attn", "cross", "ffn"): prefix + "w" + letter [in, out] and, if
  // `bias`, prefix + "b" + letter [out].
  void linear(const std::string& prefix, const std::string& block, const std::string& letter,
              const Shape& shape, bool bias);
  void add_info(const Info& info, const Values& values, const Dimensions& dimensions,
                const std::string& prefix);
  void add_model_info(const Info& info, const Values& values);
  // Adds a layer's norm, projections, group weights and feed-forward. prefix: "layers.3.".
  // owns_weights: false if the layer shares projections, norms and feed-forward with another layer.
  void layer(const std::string& prefix, const std::vector<HeadGroup>& groups, bool cross,
             bool owns_weights = true);
  // Adds norm and projections of an attention: `name` is "attn" or "cross".
  void attention(const std::string& prefix, const std::string& name);
  // Adds the matrices of a feed-forward of width `hidden`. prefix: "layers.3.ffn."
  void feed_forward(const std::string& prefix, Index hidden);
  void embedding();  // token vectors
  // Adds tables and projections of clusters. prefix: "embed." or "output."; omits_equal: clusters
  // as wide as the model have no projection.
  void clusters(const std::string& prefix, const std::vector<VocabularyCluster>& clusters,
                bool has_tables, bool omits_equal);
  // Adds the prediction of `count` clusters from a state of this width, and the output bias.
  void cluster_choice(Index width, Index count);
  // Adds the weights of a stack's input encoding. stack: "" or "encoder.".
  void positions(const std::string& stack, const std::vector<std::vector<HeadGroup>>& groups);
  // Adds the weights of the embedding after positions: token types, norm, projection.
  void after_positions(const std::string& stack);
  // Adds layers "layers.N." below `stack`, and the final norm.
  void stack(const std::string& stack, const std::vector<std::vector<HeadGroup>>& groups,
             bool cross);
  void output();  // projection to logits, unless tied; transform and bias of the head

 private:
  void add(WeightSpec spec);
  const ModelConfig& config_;
  std::string owner_, help_;
  std::vector<WeightSpec> specs_;
};

// Names of weights that gradients do not train: random features, masks, graphs, centroids.
std::set<std::string> constant_weight_names(const ModelConfig& config);
// Upper bounds of weights that training keeps within [0, bound] (WeightTraining::max), by name.
std::map<std::string, double> weight_upper_bounds(const ModelConfig& config);

// "layers.3.groups.0."
std::string group_prefix(Index layer, Index group);
std::string layer_prefix(Index layer);  // "layers.3."
// Name of a group's weight: "layers.3.groups.0.lin.e", or "shared.lin.e" if all layers share it.
// prefix: of the group, "encoder.layers.3.groups.0."
std::string group_weight_name(const WeightInfo& weight, const Values& values,
                              const std::string& prefix);
// Weights of a group of `variant`, by name without prefix, including those that layers share.
NamedVars group_weights(const NamedVars& weights, const Choice& variant, const std::string& prefix);
// True if the layer with this prefix ("layers.3.", "encoder.layers.3.") has experts.
bool has_experts(const ModelConfig& config, const std::string& layer_prefix);
// Weights whose names begin with `prefix`, by name without the prefix.
NamedVars weights_below(const NamedVars& weights, const std::string& prefix);

}  // namespace attnscope
