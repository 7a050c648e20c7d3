// classifier: a trained classifier decides whether to exit. Schuster et al., 2022.
#include "core/autodiff/operations_elementwise.h"
#include "core/model/exit_oracle.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

ExitRule classifier_exits() {
  ExitRule rule;
  rule.id = "classifier";
  rule.label = "Classifier";
  rule.group = "Exits";
  rule.equation = "confidence = σ(x_tⁿ·w + b),   exit at the first n with confidence ≥ T_t";
  rule.summary =
      "A small classifier, shared by all layers, is trained to predict from a state whether this "
      "layer's prediction equals that of the last layer.";
  rule.source = "Schuster et al., 2022, Confident adaptive language modeling, arXiv:2207.07061";
  rule.complexity = "O(L·d·n) up to the exit n";
  rule.parameters = exit_parameters();
  rule.parameters.push_back(decay_parameter());
  rule.weights = exit_weights(
      [](const Dimensions& n) -> Shape {
        return {n.model, 1};
      },
      [](const Dimensions&) -> Shape { return {1}; });
  rule.decays = rule.imitates_last = true;
  rule.confidence = [](const ExitView& v) { return sigmoid(classifier_logits(v.pass, v.state)); };
  return rule;
}

}  // namespace attnscope
