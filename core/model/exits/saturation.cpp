// saturation: exits when the direction of the state stops changing. Schuster et al., 2022.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/model/exits.h"

namespace attnscope {

ExitRule saturation_exits() {
  ExitRule e;
  e.id = "saturation";
  e.label = "Saturation";
  e.group = "Exits";
  e.equation = "confidence = cos(xⁿ, xⁿ⁻¹),   exit at the first n with confidence ≥ T_t";
  e.summary =
      "If a layer hardly changes the direction of a token's state, later ones rarely do: the "
      "confidence is the cosine of two successive states. It costs almost nothing.";
  e.source = "Schuster et al., 2022, Confident adaptive language modeling, arXiv:2207.07061";
  e.complexity = "O(L·d·n) up to the exit n";
  e.parameters = exit_parameters();
  e.parameters.push_back(decay_parameter());
  e.decays = true;
  e.confidence = [](const ExitView& at) {
    return sum_axis(multiply(unit_rows(at.before), unit_rows(at.after)), 1);  // [rows]
  };
  return e;
}

}  // namespace attnscope
