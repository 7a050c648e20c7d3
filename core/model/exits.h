// Early exits (spec-models.md, section 5): every layer can predict, and an exit rule decides at
// which layer a token leaves. Each rule has a file in exits/.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/batch.h"
#include "core/model/config.h"
#include "core/model/layer_stack.h"

namespace attnscope {

class Pass;
class WeightList;

// Input of a rule after a layer; rows are tokens.
struct ExitView {
  Pass& pass;
  Index layer = 0;                     // n, from 1
  Var previous_state, state;           // x^(n-1), x^n: [rows, d]
  const std::function<Var()>& logits;  // prediction from x^n, [rows, vocabulary]
};

// Exit rule: either a distribution over exit layers or a confidence after each layer.
struct ExitRule : Info {
  // Layer after which the exit layers of all tokens are known; -1: the rule decides layer by layer.
  Index distribution_at = -1;
  // Logits of the distribution q over the N layers. x depends on distribution_at:
  //   0: mean over positions of the encoder's output or, without encoder, of x^0; [B, d] -> [B, N]
  //   1: x^1; [rows, d] -> [rows, N]
  std::function<Var(Pass& pass, const Var& x)> distribution;
  // Confidence of each row after a layer, at most 1, [rows]. Empty if `distribution` is set.
  std::function<Var(const ExitView&)> confidence;
  bool makes_distribution = false;  // confidences are exit probabilities and define q (geometric)
  bool sure_at_end = false;         // the confidence at layer N is 1 by definition
  bool decays = false;              // the threshold may decrease along the text
  bool imitates_last = false;       // trained to predict agreement with the last layer
};

const std::vector<ExitRule>& exit_rules();       // "sequence" first
const ExitRule& exit_rule(std::string_view id);  // InputError "exits.type: ..."

ExitRule sequence_exits();
ExitRule multinomial_exits();
ExitRule geometric_exits();
ExitRule response_exits();
ExitRule saturation_exits();
ExitRule classifier_exits();

// Reason why a model cannot have its exits ("exits: ..."); empty if it can.
std::string exits_refusal(const ModelConfig& config);
// Adds a classifier (norm and projection) per layer if layers have their own classifiers.
void add_exit_classifiers(WeightList& list);

std::vector<Parameter> exit_parameters();    // classifier, training, exit_weight
std::vector<Parameter> oracle_parameters();  // oracle, lambda, sigma
Parameter decay_parameter();
// Weights exit.w and exit.b with these shapes.
std::vector<WeightInfo> exit_weights(Shape (*w_shape)(const Dimensions&),
                                     Shape (*b_shape)(const Dimensions&));
// Rule trained on the oracle, still without label, summary and weights.
ExitRule oracle_exits();
// Makes a rule choose the exit layer once, by logits x W + b after layer `layer` (distribution_at).
void choose_layer_once(ExitRule& rule, Index layer);

// Early exits during one pass through a stack.
class ExitRun {
 public:
  // x: input of the first layer [n, d]; encoded: output of the encoder, or undefined.
  ExitRun(Pass& pass, const Var& x, const Var& encoded);
  // Observes the layers of a stack and restores the states of tokens that have exited.
  void attach_to(LayerStack& stack);
  // Logits of the last layer or, with a threshold, of each token's exit layer.  [n, vocabulary]
  Var logits(const Var& final_state);
  // Output with these logits, the exit layers, and the losses of the exits.
  Output output(const Var& logits, const Batch& batch) const;
  void record();

 private:
  Var after_layer(Index n, const Var& old_state, const Var& new_state);
  std::optional<std::vector<std::int32_t>> active_rows() const;
  Var predict(Index n, const Var& x) const;
  void update_confidence(Index n, const Var& old_state, const Var& new_state);
  void exit_by_distribution();
  double threshold(Index row) const;
  Tensor distribution_of_confidences() const;
  Var distribution_loss(const IntTensor& targets) const;
  Var imitation_loss(const IntTensor& targets) const;
  Var language_model_loss(const IntTensor& targets) const;
  void add_losses(const IntTensor& targets, Output& output) const;  // targets [B, L]
  IntTensor layers() const;  // [rows] exit layer of each token, from 1; needs a threshold

  Pass& pass_;
  const ModelConfig& config_;
  const ExitRule& rule_;
  const Values& values_;
  Index layers_, rows_, length_;
  bool exits_early_;                 // true if the options have a threshold
  bool skips_exited_ = false;        // true if states of exited tokens are not computed
  bool draws_exits_;                 // true if exit layers are drawn at random (training)
  std::vector<Var> states_;          // x^0 .. x^N
  std::vector<Tensor> confidences_;  // [layers][rows]; 0 if not computed
  Var distribution_;                 // logits of q, [B or rows, N]
  Var encoded_;
  std::vector<Index> exit_layers_;  // exit layer of each row, 0: still active
};

}  // namespace attnscope
