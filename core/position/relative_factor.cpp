// relative_factor: the content score multiplied by a number for each distance.
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
      "Each head multiplies its content scores by a learned number for every distance up to k. "
      "Unlike a bias, which speaks even where query and key have nothing in common, a factor "
      "strengthens or weakens what the content says, or turns it round.";
  e.source =
      "Huang et al., 2020, Improve transformer models with better relative position "
      "embeddings, arXiv:2009.13658";
  e.cost = "O(1) for a pair, and h·(k + 1) weights";
  e.parameters = {clip_parameter("number")};
  e.weights = {{.name = "pos.factor",
                .help = "What the score is multiplied by, by head and distance.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {n.heads, values.integer("clip") + 1};
                },
                .initial = initial_ones(),
                // What the content says counts less with the distance, by head.
                .shown =
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
