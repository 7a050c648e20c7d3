// residual: the sum of both. He et al., 2016.
#include "core/autodiff/operations_elementwise.h"
#include "core/model/join.h"

namespace attnscope {

Join residual_join() {
  Join j;
  j.id = "residual";
  j.label = "Residual";
  j.group = "Joins";
  j.equation = "J(x, y) = x + y";
  j.summary =
      "What a block computes is added to what enters it, so that each layer only has to say what "
      "is to change, and gradients reach every layer unhindered.";
  j.source = "He et al., 2016, Deep residual learning, arXiv:1512.03385";
  j.cost = "O(L·d)";
  j.apply = [](const Var& x, const Var& y, const NamedVars&) { return Joined{add(x, y), {}}; };
  return j;
}

}  // namespace attnscope
