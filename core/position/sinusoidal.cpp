// sinusoidal: fixed sinusoidal vectors added to the input. Vaswani et al., 2017.
#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/position/list.h"
#include "core/position/positions.h"
#include "core/position/sinusoid.h"

namespace attnscope {
namespace {

constexpr const char* kLearnedBase = "learned_base";

std::vector<double> frequencies(Index d, const EncodingContext& context) {
  const Var* stored = find_weight(context.weights, "pos.frequency");
  if (!stored) return sinusoid_frequencies(d, context.values.real("base"));
  return {stored->value().begin(), stored->value().end()};
}

// Position vectors for a learned base, with its gradient.  [L, d]
Var learned_table(const Var& log_base, Index d, const std::vector<std::int32_t>& positions,
                  bool sines_first) {
  const Index count = static_cast<Index>(positions.size()), waves = d / 2;
  Tensor rows({count, 1}), exponents({waves, 1});
  for (Index n = 0; n < count; ++n) {
    rows[n] = static_cast<float>(positions[static_cast<std::size_t>(n)]);
  }
  for (Index t = 0; t < waves; ++t) {
    exponents[t] = -2 * static_cast<float>(t) / static_cast<float>(d);
  }
  const Var frequency = exp(matmul(Var(exponents), reshape(log_base, {1, 1})));  // [d/2, 1]
  const Var angle = matmul_transposed(Var(rows), frequency);                     // [L, d/2]
  if (sines_first) return concat({sine(angle), cosine(angle)}, 1);
  const Shape column{count, waves, 1};
  return reshape(concat({reshape(sine(angle), column), reshape(cosine(angle), column)}, 2),
                 {count, d});
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
  e.parameters = {base_parameter(10000.0),
                  wave_style_parameter(),
                  every_layer_parameter(),
                  to_values_parameter(),
                  {.key = kLearnedBase,
                   .symbol = "",
                   .label = "Learned base",
                   .help = "The base is trained, and begins at its value above.",
                   .kind = Parameter::Kind::Flag,
                   .initial = false}};
  e.weights = {{.name = "pos.frequency",
                .help = "Frequencies ω that replace the formula.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.model > 0 ? n.model / 2 : kFreeInner};
                },
                .file = {.optional = true},
                .training = {.constant = true},
                .used = [](const Values& values) { return !values.flag(kLearnedBase); }},
               {.name = "pos.log_base",
                .help = "Logarithm of the learned base.",
                .shape = [](const Dimensions&, const Values&) -> Shape { return {1}; },
                .initial =
                    [](const Shape& shape, const Dimensions&, const Values& values, std::uint64_t) {
                      return Tensor::full(shape, static_cast<float>(std::log(values.real("base"))));
                    },
                .used = [](const Values& values) { return values.flag(kLearnedBase); }}};
  e.objection = [](const Values&, const Situation& situation) {
    return odd_size_objection(situation.dimensions.model, "x");
  };
  e.embed = [](const Var& x, const std::vector<std::int32_t>& positions,
               const EncodingContext& context) {
    const bool sines_first = context.values.choice("style") == "half";
    if (context.values.flag(kLearnedBase)) {
      return add(x, learned_table(weight(context.weights, "pos.log_base"), x.dim(-1), positions,
                                  sines_first));
    }
    return add(x,
               sinusoid_table(to_doubles(positions), frequencies(x.dim(-1), context), sines_first));
  };
  return e;
}

}  // namespace attnscope
