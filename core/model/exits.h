// Early exits (SPEC-MODELS section 5): every layer can predict, and a rule says at which one a
// token leaves. One file each in exits/; exit_rules() is their ordered list.
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

// What a rule may look at behind layer n, from 1; rows are tokens.
struct ExitView {
  Pass& pass;
  Index layer = 0;                     // n
  Var before, after;                   // x^(n-1), x^n: [rows, d]
  const std::function<Var()>& logits;  // out_n(x^n), [rows, vocabulary]
};

// What a rule says: either where to leave, or how sure it is.
struct Exits : Info {
  // Behind which layer it is known where each token leaves; -1: the rule judges layer by layer.
  Index distribution_at = -1;
  // Logits of q over the layers, [rows, N]. At 0 from the mean over positions, [B, d], of the
  // embedding or of the encoder's output; at 1 from x^1, [rows, d].
  std::function<Var(Pass& pass, const Var& x)> distribution;
  // How sure it is behind layer n, below 1 or at 1: [rows]. Empty with `distribution`.
  std::function<Var(const ExitView&)> confidence;
  bool makes_distribution = false;  // the confidences are chances to leave (geometric)
  bool sure_at_end = false;         // at layer N the confidence is 1 by definition
  bool decays = false;              // its threshold may fall along the text
  bool imitates_last = false;       // trained to tell whether the guess is the last layer's
};

const std::vector<Exits>& exit_rules();       // "sequence" first
const Exits& exit_rule(std::string_view id);  // InputError "exits.type: ..."

Exits sequence_exits();
Exits multinomial_exits();
Exits geometric_exits();
Exits response_exits();
Exits saturation_exits();
Exits classifier_exits();

// Why a model cannot have these exits: "exits: ..."; empty: it can.
std::string exits_refusal(const ModelConfig& config);
// Norm and projection of each layer that predicts by its own.
void add_exit_classifiers(WeightList& list);

// Parameters that rules share: classifier, training, exit_weight; oracle, lambda, sigma; decay.
std::vector<Parameter> exit_parameters();
std::vector<Parameter> oracle_parameters();
Parameter decay_parameter();
// exit.w and exit.b, of these shapes.
std::vector<WeightInfo> exit_weights(Shape (*of_w)(const Dimensions&),
                                     Shape (*of_b)(const Dimensions&));
// A rule that an oracle teaches, but for its own words and weights.
Exits oracle_exits();
// Has a rule choose the layer once, by logits x W + b behind that layer (see distribution_at).
void choose_once(Exits& rule, Index behind_layer);

// The exits of one run through a stack.
class ExitRun {
 public:
  // x: what enters the first layer [n, d]; encoded: an encoder's output, or undefined.
  ExitRun(Pass& pass, const Var& x, const Var& encoded);
  // Follows the layers of a stack, and puts back what has left.
  void follow(LayerStack& stack);
  // The last layer's logits, or with a threshold those of the exits.  [n, vocabulary]
  Var logits(const Var& last);
  // With these logits, where tokens left, and the losses in place of the plain one.
  Output output(const Var& logits, const Batch& batch) const;
  void record();

 private:
  Var after_layer(Index n, const Var& before, const Var& after);
  std::optional<std::vector<std::int32_t>> active_rows() const;
  Var out(Index n, const Var& x) const;
  void judge(Index n, const Var& before, const Var& after);
  void leave_by_distribution();
  double threshold(Index row) const;
  Tensor distribution_of_confidences() const;
  Var distribution_logits() const;
  Tensor oracle_scores(const IntTensor& targets) const;
  IntTensor oracle(const IntTensor& targets) const;
  Var distribution_loss(const IntTensor& targets) const;
  Var imitation_loss(const IntTensor& targets) const;
  Var language_model_loss(const IntTensor& targets) const;
  void add_losses(const IntTensor& targets, Output& output) const;  // targets [B, L]
  IntTensor layers() const;  // [rows] where each token left, from 1, with a threshold

  Pass& pass_;
  const ModelConfig& config_;
  const Exits& rule_;
  const Values& values_;
  Index layers_, rows_, length_;
  bool leaves_;                      // a threshold is given
  bool skips_ = false;               // the work of tokens that have left is not done
  bool mixed_;                       // layers are drawn
  std::vector<Var> states_;          // x^0 .. x^N
  std::vector<Tensor> confidences_;  // of layer n at [n - 1], [rows], 0 where not computed
  Var distribution_;                 // logits of q, [B or rows, N]
  Var encoded_;
  std::vector<Index> left_;  // the layer at which a row left, 0: not yet
};

}  // namespace attnscope
