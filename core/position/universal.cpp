// universal: position and depth vectors added to the input. Dehghani et al., 2018.
#include "core/autodiff/operations_elementwise.h"
#include "core/position/list.h"
#include "core/position/sinusoid.h"

namespace attnscope {

Encoding universal_encoding() {
  Encoding e;
  e.id = "universal";
  e.label = "Universal, position and step";
  e.group = "Added to the input";
  e.equation = "xᵢ += pᵢ + p_t,   p sinusoidal, i the position, t the step";
  e.summary =
      "The Universal Transformer applies one layer repeatedly, so it encodes not only the position "
      "of a token but also the step, that is how often the token has been revised. Both are "
      "sinusoidal vectors added to the token's vector.";
  e.source = "Dehghani et al., 2018, Universal Transformers, arXiv:1807.03819";
  e.complexity = "O(L·d)";
  e.absolute = e.uses_step = true;
  e.parameters = {{.key = "step",
                   .symbol = "t",
                   .label = "Step",
                   .help = "Step of the recurrence over depth whose vector is added.",
                   .initial = Index{1},
                   .slider = {.max = 12}},
                  base_parameter(10000.0)};
  e.objection = [](const Values&, const Situation& situation) {
    return odd_size_objection(situation.dimensions.model, "x");
  };
  e.embed = [](const Var& x, const std::vector<std::int32_t>& positions,
               const EncodingContext& context) {
    const auto frequencies = sinusoid_frequencies(x.dim(-1), context.values.real("base"));
    const auto step = static_cast<double>(context.values.integer("step"));
    const Var by_position = add(x, sinusoid_table(to_doubles(positions), frequencies));
    return add(by_position, sinusoid_table({step}, frequencies));  // [B, L, d]
  };
  return e;
}

}  // namespace attnscope
