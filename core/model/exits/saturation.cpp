// saturation: exits when the direction of the state stops changing. Schuster et al., 2022.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/model/exits.h"

namespace attnscope {

ExitRule saturation_exits() {
  ExitRule rule;
  rule.id = "saturation";
  rule.label = "Saturation";
  rule.group = "Exits";
  rule.equation = "confidence = cos(xⁿ, xⁿ⁻¹),   exit at the first n with confidence ≥ T_t";
  rule.summary =
      "If a layer hardly changes the direction of a token's state, later ones rarely do: the "
      "confidence is the cosine of two successive states. It costs almost nothing.";
  rule.source = "Schuster et al., 2022, Confident adaptive language modeling, arXiv:2207.07061";
  rule.complexity = "O(L·d·n) up to the exit n";
  rule.parameters = exit_parameters();
  rule.parameters.push_back(decay_parameter());
  rule.decays = true;
  rule.confidence = [](const ExitView& view) {
    return sum_axis(multiply(unit_rows(view.previous_state), unit_rows(view.state)), 1);  // [rows]
  };
  return rule;
}

}  // namespace attnscope
