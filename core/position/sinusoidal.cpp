// sinusoidal: fixed sinusoidal vectors added to the input. Vaswani et al., 2017.
#include "core/autodiff/operations_elementwise.h"
#include "core/position/list.h"
#include "core/position/positions.h"
#include "core/position/sinusoid.h"

namespace attnscope {
namespace {

std::vector<double> frequencies(Index d, const EncodingContext& context) {
  const Var* stored = find_weight(context.weights, "pos.frequency");
  if (!stored) return sinusoid_frequencies(d, context.values.real("base"));
  return {stored->value().begin(), stored->value().end()};
}

}  // namespace

Encoding sinusoidal_encoding() {
  Encoding e;
  e.id = "sinusoidal";
  e.label = "Sinusoidal";
  e.group = "Added to the input";
  e.equation = "xᵢ += pᵢ,   pᵢ[2t] = sin(i·ω_t),   pᵢ[2t+1] = cos(i·ω_t),   ω_t = base^(−2t/d)";
  e.summary =
      "Each position has a fixed vector of sine and cosine waves, from fast to slow, like the "
      "hands of many clocks; it is added to the token's vector. A shift by a fixed distance "
      "rotates each pair, so relative positions can be read off, and positions never seen in "
      "training have vectors too.";
  e.source = "Vaswani et al., 2017, Attention is all you need, arXiv:1706.03762";
  e.complexity = "O(L·d)";
  e.absolute = true;
  e.parameters = {base_parameter(10000.0), wave_style_parameter(), every_layer_parameter(),
                  to_values_parameter()};
  e.weights = {{.name = "pos.frequency",
                .help = "Frequencies ω that replace the formula.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.model > 0 ? n.model / 2 : kFreeInner};
                },
                .file = {.optional = true},
                .training = {.constant = true}}};
  e.objection = [](const Values&, const Situation& situation) {
    return odd_size_objection(situation.dimensions.model, "x");
  };
  e.embed = [](const Var& x, const std::vector<std::int32_t>& positions,
               const EncodingContext& context) {
    return add(x, sinusoid_table(to_doubles(positions), frequencies(x.dim(-1), context),
                                 context.values.choice("style") == "half"));
  };
  return e;
}

}  // namespace attnscope
