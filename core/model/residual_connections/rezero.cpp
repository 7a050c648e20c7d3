// rezero: a learned scalar, initially 0, scales each block output. Bachlechner et al., 2020.
#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/model/residual_connection.h"

namespace attnscope {

ResidualConnection rezero_residual_connection() {
  ResidualConnection join;
  join.id = "rezero";
  join.label = "ReZero";
  join.group = "Residual connections";
  join.equation = "J(x, y) = x + α y,   α = 0 at first";
  join.summary =
      "A learned scalar scales the output of each block. It is 0 at first, so that the network "
      "begins as the identity, signals and gradients keep their size at any depth, and norms are "
      "not needed (norm \"none\").";
  join.source = "Bachlechner et al., 2020, ReZero is all you need, arXiv:2003.04887";
  join.complexity = "O(L·d)";
  join.weights = {{.name = "alpha",
                   .help = "Factor of the block output.",
                   .shape = [](const Dimensions&, const Values&) -> Shape { return {1}; },
                   .initial = initial_zeros()}};
  join.scale_symbol = "× α";
  join.apply = add_residual;
  join.scale_output = [](const Var& y, const NamedVars& weights) {
    return multiply(y, weight(weights, "alpha"));
  };
  // Matrices preserve the length of vectors; alpha compensates for the depth.
  join.deviation = [](const ModelConfig&, const BlockMatrix& matrix) {
    return 1 / std::sqrt(static_cast<double>(matrix.rows));
  };
  return join;
}

}  // namespace attnscope
