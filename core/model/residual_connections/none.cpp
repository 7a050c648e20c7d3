// none: the output of a block replaces its input, as in networks before residual learning.
#include "core/model/residual_connection.h"

namespace attnscope {

ResidualConnection no_residual_connection() {
  ResidualConnection join;
  join.id = "none";
  join.label = "None";
  join.group = "Residual connections";
  join.equation = "J(x, y) = y";
  join.summary =
      "The output of a block replaces its input. A token keeps only what attention and "
      "feed-forward pass on, and gradients reach early layers only through all later ones: deep "
      "models hardly train. For comparison with residual connections.";
  join.source =
      "He et al., 2016, arXiv:1512.03385 (plain networks); Dong et al., 2021, "
      "arXiv:2103.03404";
  join.complexity = "O(1)";
  join.has_bypass = false;
  join.apply = [](const Var&, const Var& y, const NamedVars&) { return ResidualOutput{y, {}}; };
  return join;
}

}  // namespace attnscope
