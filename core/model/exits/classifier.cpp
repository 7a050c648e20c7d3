// classifier: a trained classifier says whether to go on. Schuster et al., 2022.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/exit_oracle.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

Exits classifier_exits() {
  Exits e;
  e.id = "classifier";
  e.label = "Classifier";
  e.group = "Exits";
  e.equation = "confidence = σ(x_tⁿ·w + b),   exit at the first n with confidence ≥ T_t";
  e.summary =
      "A small classifier, the same for all layers, is trained to tell from a state whether the "
      "guess behind this layer will be the last layer's.";
  e.source = "Schuster et al., 2022, Confident adaptive language modeling, arXiv:2207.07061";
  e.cost = "O(L·d·n) up to the exit n";
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
