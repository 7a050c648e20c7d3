// geometric: each token may exit after each layer. Elbayad et al., 2020.
#include "core/autodiff/operations_elementwise.h"
#include "core/model/exit_oracle.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

ExitRule geometric_exits() {
  ExitRule e = oracle_exits();
  e.id = "geometric";
  e.label = "Per token, layer by layer";
  e.equation =
      "X_tⁿ = σ(x_tⁿ·wₙ + bₙ),   q_t(n) = X_tⁿ Π_{m<n} (1 − X_tᵐ)\n"
      "exit at the first n with X_tⁿ ≥ T";
  e.summary =
      "After every layer each token decides whether to exit; the probabilities multiply to a "
      "distribution over layers. It is trained on an oracle that knows the sufficient layer.";
  e.weights = exit_weights(
      [](const Dimensions& n) -> Shape {
        return {n.layers - 1, n.model};
      },
      [](const Dimensions& n) -> Shape { return {n.layers - 1}; });
  e.makes_distribution = e.sure_at_end = true;
  e.confidence = [](const ExitView& at) {
    return sigmoid(exit_probability_logits(at.pass, at.layer, at.after));
  };
  return e;
}

}  // namespace attnscope
