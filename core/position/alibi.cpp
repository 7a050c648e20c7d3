// alibi: score bias proportional to the distance. Press et al., 2021.

#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/slopes.h"

namespace attnscope {
namespace {

constexpr double kMaxSlope = 1e25;  // products of slopes and distances fit float32

}  // namespace

Encoding alibi_encoding() {
  Encoding e;
  e.id = "alibi";
  e.label = "ALiBi, linear bias";
  e.group = "Bias by distance";
  e.equation = "sᵢⱼ = qᵢ·kⱼ / √d_k − m_a·|i − j|";
  e.summary =
      "Nothing is added to the tokens. Each score is reduced in proportion to the distance, with a "
      "fixed slope m per head: steep heads attend locally, flat ones reach far. It has no trained "
      "weights, and it extrapolates to texts longer than those of training.";
  e.source = "Press, Smith and Lewis, 2021, Train short, test long, arXiv:2108.12409";
  e.complexity = "O(1) per pair";
  e.parameters = {
      {.key = "slopes",
       .symbol = "m",
       .label = "Slopes",
       .help = "One slope per head of the layer or group, instead of the published ones.",
       .kind = Parameter::Kind::Reals,
       .optional = true,
       .unset_label = "as published",
       .initial = std::vector<double>{},
       .limits = {.min = -kMaxSlope, .max = kMaxSlope}}};
  e.objection = [](const Values& values, const Situation& situation) -> std::string {
    if (!values.has("slopes") || situation.dimensions.heads <= 0) return {};
    const auto slope_count = static_cast<Index>(values.get<std::vector<double>>("slopes").size());
    if (situation.dimensions.offset_in_list(slope_count) >= 0) return {};
    return "slopes: expected one slope for each of the " +
           std::to_string(situation.dimensions.heads) + " heads, found " +
           std::to_string(slope_count);
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
