// relative_bias: a learned score bias per offset and head.
#include <cstdlib>

#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/slopes.h"

namespace attnscope {

Encoding relative_bias_encoding() {
  Encoding e;
  e.id = "relative_bias";
  e.label = "Relative bias";
  e.group = "Bias by distance";
  e.equation = "sᵢⱼ = qᵢ·kⱼ / √d_k + b_a[clamp(j − i, −k, k)]";
  e.summary =
      "Each head has a learned number for every offset up to k in either direction, added to the "
      "score regardless of the tokens: the simplest way to let a head prefer the previous token or "
      "its neighbourhood.";
  e.source = "Raffel et al., 2019, arXiv:1910.10683, without buckets";
  e.complexity = "O(1) per pair, and h·(2k + 1) weights";
  e.parameters = {clip_parameter("number")};
  e.weights = {{.name = "pos.bias",
                .help = "Score bias by head and offset.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {n.heads, 2 * values.integer("clip") + 1};
                },
                .initial = initial_zeros(),
                // Slopes that differ by head, as in ALiBi.
                .illustrative =
                    [](const Shape& shape, const Situation&, const Values& values) {
                      const Index clip = values.integer("clip");
                      const std::vector<double> slopes = default_slopes(shape[0]);
                      Tensor bias(shape);  // [h, 2 clip + 1]
                      for (Index head = 0; head < shape[0]; ++head) {
                        for (Index o = -clip; o <= clip; ++o) {
                          bias(head, o + clip) =
                              static_cast<float>(-slopes[static_cast<std::size_t>(head)] *
                                                 static_cast<double>(std::abs(o)));
                        }
                      }
                      return bias;
                    }}};
  e.apply = [](Part& part, const EncodingContext& context) {
    part.bias = OffsetTable{weight(context.weights, "pos.bias"),
                            clipped_index(context.values.integer("clip")), Term::Bias};
  };
  return e;
}

}  // namespace attnscope
