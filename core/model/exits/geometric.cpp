// geometric: each token may exit after each layer. Elbayad et al., 2020.
#include "core/autodiff/operations_elementwise.h"
#include "core/model/exit_oracle.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

ExitRule geometric_exits() {
  ExitRule rule = oracle_exits();
  rule.id = "geometric";
  rule.label = "Per token, layer by layer";
  rule.equation =
      "X_tⁿ = σ(x_tⁿ·wₙ + bₙ),   q_t(n) = X_tⁿ Π_{m<n} (1 − X_tᵐ)\n"
      "exit at the first n with X_tⁿ ≥ T";
  rule.summary =
      "After every layer each token decides whether to exit; the probabilities multiply to a "
      "distribution over layers. It is trained on an oracle that knows the target: the layer of "
      "the best score, minus a cost per layer.";
  rule.weights = exit_weights(
      [](const Dimensions& n) -> Shape {
        return {n.layers - 1, n.model};
      },
      [](const Dimensions& n) -> Shape { return {n.layers - 1}; });
  rule.makes_distribution = rule.sure_at_end = true;
  rule.confidence = [](const ExitView& view) {
    return sigmoid(exit_probability_logits(view.pass, view.layer, view.state));
  };
  return rule;
}

}  // namespace attnscope
