// relative_factor: content scores multiplied by a learned factor per distance.
#include <cmath>

#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/slopes.h"

namespace attnscope {

Encoding relative_factor_encoding() {
  Encoding e;
  e.id = "relative_factor";
  e.label = "Relative factor";
  e.group = "Factor by distance";
  e.equation = "sᵢⱼ = qᵢ·kⱼ / √d_k · f_a[min(|i − j|, k)]";
  e.summary =
      "Each head multiplies its content scores by a learned number for every distance up to k. A "
      "bias changes the score even where query and key have nothing in common; a factor only "
      "strengthens, weakens or inverts the content score.";
  e.source =
      "Huang et al., 2020, Improve transformer models with better relative position "
      "embeddings, arXiv:2009.13658";
  e.complexity = "O(1) per pair, and h·(k + 1) weights";
  e.parameters = {clip_parameter("number")};
  e.weights = {{.name = "pos.factor",
                .help = "Factor of the score by head and distance.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {n.heads, values.integer("clip") + 1};
                },
                .initial = initial_ones(),
                // Content scores decay with the distance, at a rate that differs by head.
                .illustrative =
                    [](const Shape& shape, const Situation&, const Values&) {
                      const std::vector<double> slopes = default_slopes(shape[0]);
                      Tensor factor(shape);  // [h, clip + 1]
                      for (Index head = 0; head < shape[0]; ++head) {
                        for (Index o = 0; o < shape[1]; ++o) {
                          factor(head, o) = static_cast<float>(std::exp(
                              -slopes[static_cast<std::size_t>(head)] * static_cast<double>(o)));
                        }
                      }
                      return factor;
                    }}};
  e.apply = [](Part& part, const EncodingContext& context) {
    part.factor = OffsetTable{weight(context.weights, "pos.factor"),
                              distance_index(context.values.integer("clip")), Term::Factor};
  };
  return e;
}

}  // namespace attnscope
