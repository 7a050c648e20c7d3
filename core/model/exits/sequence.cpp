// sequence: all tokens leave at the same layer, chosen beforehand. Elbayad et al., 2020.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/exit_oracle.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

Exits sequence_exits() {
  Exits e;
  e.id = "sequence";
  e.label = "By sequence";
  e.group = "Exits";
  e.equation = "q = softmax(x̄ W + b),   exit at arg maxₙ q(n)";
  e.summary =
      "One decision for the whole sequence, made before the first layer: the mean of what the "
      "encoder found, or of the tokens' vectors, says how many layers this text deserves.";
  e.source = "Elbayad et al., 2020, Depth-adaptive transformer, arXiv:1910.10073";
  e.cost = "O(L·d·n) up to the exit n";
  e.parameters = exit_parameters();
  for (Parameter& parameter : oracle_parameters()) e.parameters.push_back(std::move(parameter));
  e.weights = {{.name = "exit.w",
                .help = "What of a state speaks for leaving.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.model, n.layers};
                },
                .initial = initial_normal(0.02)},
               {.name = "exit.b",
                .help = "Added to it.",
                .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.layers}; },
                .initial = initial_zeros()}};
  e.distribution_at = 0;
  e.distribution = [](Pass& pass, const Var& x) {
    return add(matmul(x, pass.weight("exit.w")), pass.weight("exit.b"));  // [rows, N]
  };
  return e;
}

}  // namespace attnscope
