// saturation: leaves where a state stops turning. Schuster et al., 2022.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/exit_oracle.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

Exits saturation_exits() {
  Exits e;
  e.id = "saturation";
  e.label = "Saturation";
  e.group = "Exits";
  e.equation = "confidence = cos(xⁿ, xⁿ⁻¹),   exit at the first n with confidence ≥ T_t";
  e.summary =
      "When a layer hardly turns a token's state any more, later ones will not either: the cosine "
      "of two successive states is the confidence. It costs next to nothing.";
  e.source = "Schuster et al., 2022, Confident adaptive language modeling, arXiv:2207.07061";
  e.cost = "O(L·d·n) up to the exit n";
  e.parameters = exit_parameters();
  e.parameters.push_back(decay_parameter());
  e.decays = true;
  e.confidence = [](const ExitView& at) {
    return sum_axis(multiply(unit_rows(at.before), unit_rows(at.after)), 1);  // [rows]
  };
  return e;
}

}  // namespace attnscope
