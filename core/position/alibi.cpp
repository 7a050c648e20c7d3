// alibi: a penalty that grows with the distance. Press et al., 2021.
#include <cmath>

#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/slopes.h"

namespace attnscope {

namespace {

constexpr double kSteepest = 1e25;  // times any distance still a float

}  // namespace

Encoding alibi_encoding() {
  Encoding e;
  e.id = "alibi";
  e.label = "ALiBi, linear bias";
  e.group = "Bias by distance";
  e.equation = "sᵢⱼ = qᵢ·kⱼ / √d_k − m_a·|i − j|";
  e.summary =
      "Nothing is added to the tokens. Every score is lowered in proportion to the distance, with "
      "a "
      "slope m that differs by head: steep heads look near, flat ones far. There is nothing to "
      "learn, and it keeps working on texts longer than those of training.";
  e.source = "Press, Smith and Lewis, 2021, Train short, test long, arXiv:2108.12409";
  e.cost = "O(1) for a pair";
  e.parameters = {
      {.key = "slopes",
       .symbol = "m",
       .label = "Slopes",
       .help = "One slope for each head of the layer or group, in place of the published ones.",
       .kind = Parameter::Kind::Reals,
       .optional = true,
       .left_out = "as published",
       .initial = std::vector<double>{},
       .least = -kSteepest,
       .most = kSteepest}};
  e.objection = [](const Values& values, const Situation& at) -> std::string {
    if (!values.has("slopes") || at.dimensions.heads <= 0) return {};
    const auto found = static_cast<Index>(values.get<std::vector<double>>("slopes").size());
    if (at.dimensions.offset_in_list(found) >= 0) return {};
    return "slopes: expected one for each of the " + std::to_string(at.dimensions.heads) +
           " heads, found " + std::to_string(found);
  };
  e.apply = [](Part& part, const EncodingContext& context) {
    const std::vector<double> slopes = context.values.has("slopes")
                                           ? context.values.get<std::vector<double>>("slopes")
                                           : default_slopes(context.dimensions.all_heads());
    const Index first = context.dimensions.offset_in_list(static_cast<Index>(slopes.size()));
    const Index farthest = offset_range(part).farthest();
    Tensor table({part.heads, farthest + 1});  // [h, distances]
    for (Index a = 0; a < part.heads; ++a) {
      for (Index distance = 0; distance <= farthest; ++distance) {
        table(a, distance) = static_cast<float>(-slopes[static_cast<std::size_t>(first + a)] *
                                                static_cast<double>(distance));
      }
    }
    part.bias = OffsetTable{table, distance_index(farthest), Term::Bias};
  };
  return e;
}

}  // namespace attnscope
