// response: exits when the margin of the most likely token is large. Schuster et al., 2022.
#include "core/autodiff/operations_reduce.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

ExitRule response_exits() {
  ExitRule e;
  e.id = "response";
  e.label = "Softmax response";
  e.group = "Exits";
  e.equation = "confidence = p₁ − p₂,   exit at the first n with confidence ≥ T_t";
  e.summary =
      "The confidence is the margin between the two most likely next tokens. It needs an output "
      "projection after every layer, but no training.";
  e.source = "Schuster et al., 2022, Confident adaptive language modeling, arXiv:2207.07061";
  e.complexity = "O(L·d·n) up to the exit n";
  e.parameters = exit_parameters();
  e.parameters.push_back(decay_parameter());
  e.decays = true;
  e.confidence = [](const ExitView& at) -> Var {
    const Tensor p = softmax(at.logits()).value();  // [rows, vocabulary]
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
  return e;
}

}  // namespace attnscope
