// response: exits when the margin of the most likely token is large. Schuster et al., 2022.
#include "core/autodiff/operations_reduce.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

ExitRule response_exits() {
  ExitRule rule;
  rule.id = "response";
  rule.label = "Softmax response";
  rule.group = "Exits";
  rule.equation = "confidence = p₁ − p₂,   exit at the first n with confidence ≥ T_t";
  rule.summary =
      "The confidence is the margin between the two most likely next tokens. It needs an output "
      "projection after every layer, but no training.";
  rule.source = "Schuster et al., 2022, Confident adaptive language modeling, arXiv:2207.07061";
  rule.complexity = "O(L·d·n) up to the exit n";
  rule.parameters = exit_parameters();
  rule.parameters.push_back(decay_parameter());
  rule.decays = true;
  rule.confidence = [](const ExitView& view) -> Var {
    const Tensor p = softmax(view.logits()).value();  // [rows, vocabulary]
    Tensor margin({p.dim(0)});
    for (Index row = 0; row < p.dim(0); ++row) {
      float first = 0, second = 0;
      for (Index y = 0; y < p.dim(1); ++y) {
        const float x = p(row, y);
        if (x > first) {
          second = first;
          first = x;
        } else if (x > second) {
          second = x;
        }
      }
      margin[row] = first - second;
    }
    return margin;
  };
  return rule;
}

}  // namespace attnscope
