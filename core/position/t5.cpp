// t5: a learned number for each bucket of distances. Raffel et al., 2019.
#include <algorithm>
#include <cmath>

#include "core/autodiff/operations_shape.h"
#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/slopes.h"
#include "core/position/t5_bucket.h"

namespace attnscope {

namespace {

bool is_bidirectional(const Values& values, bool causal) {
  return values.has("bidirectional") ? values.flag("bidirectional") : !causal;
}

std::string t5_objection(const Values& values, const Situation& at) {
  const Index buckets = values.integer("buckets"), most = values.integer("max_distance");
  const bool both = is_bidirectional(values, at.causal);
  if (both && buckets % 2 == 1) {
    return "buckets: expected an even number for both directions, found " + std::to_string(buckets);
  }
  const Index exact = (both ? buckets / 2 : buckets) / 2;
  if (exact < 1) {
    return "buckets: expected at least " + std::to_string(both ? 4 : 2) + ", found " +
           std::to_string(buckets);
  }
  if (most <= exact) {
    return "max_distance: expected more than the " + std::to_string(exact) +
           " exact distances, found " + std::to_string(most);
  }
  return {};
}

T5Buckets t5_buckets(const Values& values, bool causal) {
  return {.count = values.integer("buckets"),
          .max_distance = values.integer("max_distance"),
          .bidirectional = is_bidirectional(values, causal)};
}

// Falls with the logarithm of the distance where a bucket begins, by head as steep as ALiBi.
Tensor falling_bias(const Shape& shape, const Situation& at, const Values& values) {
  constexpr double kPerDoubling = 4;
  constexpr Index kFarthest = 65536;
  const T5Buckets buckets = t5_buckets(values, at.causal);
  std::vector<double> begins(static_cast<std::size_t>(shape[0]), -1);
  for (Index distance = 0; distance <= std::min(buckets.max_distance, kFarthest); ++distance) {
    for (const Index offset : {-distance, distance}) {
      double& begin = begins[static_cast<std::size_t>(t5_bucket(buckets, offset))];
      if (begin < 0) begin = static_cast<double>(distance);
    }
  }
  const std::vector<double> slopes = default_slopes(shape[1]);
  Tensor bias(shape);  // [buckets, h]
  for (Index bucket = 0; bucket < shape[0]; ++bucket) {
    const double far = std::log2(1 + std::max(0.0, begins[static_cast<std::size_t>(bucket)]));
    for (Index head = 0; head < shape[1]; ++head) {
      bias(bucket, head) =
          static_cast<float>(-kPerDoubling * slopes[static_cast<std::size_t>(head)] * far);
    }
  }
  return bias;
}

}  // namespace

Encoding t5_encoding() {
  Encoding e;
  e.id = "t5";
  e.label = "T5, bucketed bias";
  e.group = "Bias by distance";
  e.equation = "sᵢⱼ = qᵢ·kⱼ / √d_k + b_a[bucket(j − i)]";
  e.summary =
      "Each head has a learned number for every bucket of distances: small distances have one "
      "each, "
      "larger ones share buckets that widen like a logarithm, and all beyond the last share one. A "
      "few numbers thus cover long texts, fine where order matters and coarse where it does not.";
  e.source = "Raffel et al., 2019, T5, arXiv:1910.10683";
  e.cost = "O(1) for a pair, and h·buckets weights";
  e.parameters = {{.key = "buckets",
                   .symbol = "B",
                   .label = "Buckets",
                   .help = "How many numbers each head has.",
                   .initial = Index{32},
                   .least = 1,
                   .slider_least = 4,
                   .slider_most = 64},
                  {.key = "max_distance",
                   .symbol = "D",
                   .label = "Largest distance",
                   .help = "Where the buckets end; all farther keys share the last.",
                   .initial = Index{128},
                   .least = 1,
                   .slider_least = 17,
                   .slider_most = 512},
                  {.key = "bidirectional",
                   .symbol = "",
                   .label = "Both directions",
                   .help = "Half of the buckets for keys ahead; by default where attention is not "
                           "causal.",
                   .kind = Parameter::Kind::Flag,
                   .optional = true,
                   .left_out = "by direction",
                   .initial = true}};
  e.weights = {{.name = "pos.bias",
                .help = "What is added to the score, by bucket and head.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {values.integer("buckets"), n.heads};
                },
                .initial = initial_zeros(),
                .shown = falling_bias}};
  e.objection = t5_objection;
  e.apply = [](Part& part, const EncodingContext& context) {
    const T5Buckets buckets = t5_buckets(context.values, context.causal);
    const auto column = [&](Index offset) { return t5_bucket(buckets, -offset); };
    part.bias = OffsetTable{transpose(weight(context.weights, "pos.bias")),  // [h, buckets]
                            index_offsets(offset_range(part), column), Term::Bias};
  };
  return e;
}

}  // namespace attnscope
