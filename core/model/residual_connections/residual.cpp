// residual: sum of block input and output. He et al., 2016.
#include "core/autodiff/operations_elementwise.h"
#include "core/model/residual_connection.h"

namespace attnscope {

ResidualOutput add_residual(const Var& x, const Var& y, const NamedVars&) {
  return {add(x, y), {}};
}

ResidualConnection plain_residual_connection() {
  ResidualConnection join;
  join.id = "residual";
  join.label = "Residual";
  join.group = "Residual connections";
  join.equation = "J(x, y) = x + y";
  join.summary =
      "The output of a block is added to its input, so that each layer only computes a change, and "
      "gradients reach every layer directly.";
  join.source = "He et al., 2016, Deep residual learning, arXiv:1512.03385";
  join.complexity = "O(L·d)";
  join.apply = add_residual;
  return join;
}

}  // namespace attnscope
