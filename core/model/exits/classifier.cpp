// classifier: a trained classifier decides whether to exit. Schuster et al., 2022.
#include "core/autodiff/operations_elementwise.h"
#include "core/model/exit_oracle.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

ExitRule classifier_exits() {
  ExitRule e;
  e.id = "classifier";
  e.label = "Classifier";
  e.group = "Exits";
  e.equation = "confidence = σ(x_tⁿ·w + b),   exit at the first n with confidence ≥ T_t";
  e.summary =
      "A small classifier, shared by all layers, is trained to predict from a state whether this "
      "layer's prediction equals that of the last layer.";
  e.source = "Schuster et al., 2022, Confident adaptive language modeling, arXiv:2207.07061";
  e.complexity = "O(L·d·n) up to the exit n";
  e.parameters = exit_parameters();
  e.parameters.push_back(decay_parameter());
  e.weights = exit_weights(
      [](const Dimensions& n) -> Shape {
        return {n.model, 1};
      },
      [](const Dimensions&) -> Shape { return {1}; });
  e.decays = e.imitates_last = true;
  e.confidence = [](const ExitView& at) { return sigmoid(classifier_logits(at.pass, at.after)); };
  return e;
}

}  // namespace attnscope
