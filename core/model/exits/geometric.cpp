// geometric: each token may leave behind each layer. Elbayad et al., 2020.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/exit_oracle.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

Exits geometric_exits() {
  Exits e;
  e.id = "geometric";
  e.label = "By token, layer by layer";
  e.group = "Exits";
  e.equation =
      "X_tⁿ = σ(x_tⁿ·wₙ + bₙ),   q_t(n) = X_tⁿ Π_{m<n} (1 − X_tᵐ)\n"
      "exit at the first n with X_tⁿ ≥ T";
  e.summary =
      "Behind every layer each token asks again whether to stop; the chances multiply to a "
      "distribution over layers. It is taught by an oracle that knows which layer would have done.";
  e.source = "Elbayad et al., 2020, Depth-adaptive transformer, arXiv:1910.10073";
  e.cost = "O(L·d·n) up to the exit n";
  e.parameters = exit_parameters();
  for (Parameter& parameter : oracle_parameters()) e.parameters.push_back(std::move(parameter));
  e.weights = {{.name = "exit.w",
                .help = "What of a state speaks for leaving.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.layers - 1, n.model};
                },
                .initial = initial_normal(0.02)},
               {.name = "exit.b",
                .help = "Added to it.",
                .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.layers - 1}; },
                .initial = initial_zeros()}};
  e.makes_distribution = e.sure_at_end = true;
  e.confidence = [](const ExitView& at) {
    return sigmoid(chance_logits(at.pass, at.layer, at.after));
  };
  return e;
}

}  // namespace attnscope
