// t5: a learned score bias per bucket of distances and head. Raffel et al., 2019.
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

std::string t5_objection(const Values& values, const Situation& situation) {
  const Index buckets = values.integer("buckets"), max = values.integer("max_distance");
  const bool bidirectional = is_bidirectional(values, situation.causal);
  if (bidirectional && buckets % 2 == 1) {
    return "buckets: expected an even number when bidirectional, found " + std::to_string(buckets);
  }
  const Index exact = (bidirectional ? buckets / 2 : buckets) / 2;
  if (exact < 1) {
    return "buckets: expected at least " + std::to_string(bidirectional ? 4 : 2) + ", found " +
           std::to_string(buckets);
  }
  if (max <= exact) {
    return "max_distance: expected more than the " + std::to_string(exact) +
           " exact distances, found " + std::to_string(max);
  }
  return {};
}

T5Buckets t5_buckets(const Values& values, bool causal) {
  return {.count = values.integer("buckets"),
          .max_distance = values.integer("max_distance"),
          .bidirectional = is_bidirectional(values, causal)};
}

// Bias that falls with the logarithm of the bucket's smallest distance, times the ALiBi slope.
Tensor falling_bias(const Shape& shape, const Situation& situation, const Values& values) {
  constexpr double kPerDoubling = 4;
  constexpr Index kFarthest = 65536;
  const T5Buckets buckets = t5_buckets(values, situation.causal);
  std::vector<double> min_distances(static_cast<std::size_t>(shape[0]), -1);
  for (Index distance = 0; distance <= std::min(buckets.max_distance, kFarthest); ++distance) {
    for (const Index offset : {-distance, distance}) {
      double& min_distance = min_distances[static_cast<std::size_t>(t5_bucket(buckets, offset))];
      if (min_distance < 0) min_distance = static_cast<double>(distance);
    }
  }
  const std::vector<double> slopes = default_slopes(shape[1]);
  Tensor bias(shape);  // [buckets, h]
  for (Index bucket = 0; bucket < shape[0]; ++bucket) {
    const double log_distance =
        std::log2(1 + std::max(0.0, min_distances[static_cast<std::size_t>(bucket)]));
    for (Index head = 0; head < shape[1]; ++head) {
      bias(bucket, head) =
          static_cast<float>(-kPerDoubling * slopes[static_cast<std::size_t>(head)] * log_distance);
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
      "Each head has a learned bias for every bucket of distances: short distances have a bucket "
      "each, longer ones share buckets of logarithmically growing width, and all beyond the "
      "maximum share the last. A few numbers thus cover long texts, finely at short range and "
      "coarsely at long range.";
  e.source = "Raffel et al., 2019, T5, arXiv:1910.10683";
  e.complexity = "O(1) per pair, and h·buckets weights";
  e.parameters = {{.key = "buckets",
                   .symbol = "B",
                   .label = "Buckets",
                   .help = "Number of buckets per head.",
                   .initial = Index{32},
                   .limits = {.min = 1},
                   .slider = {.min = 4, .max = 64}},
                  {.key = "max_distance",
                   .symbol = "D",
                   .label = "Max. distance",
                   .help = "All distances from here on share the last bucket.",
                   .initial = Index{128},
                   .limits = {.min = 1},
                   .slider = {.min = 17, .max = 512}},
                  {.key = "bidirectional",
                   .symbol = "",
                   .label = "Bidirectional",
                   .help = "Reserves half of the buckets for later keys; the default follows the "
                           "direction of attention.",
                   .kind = Parameter::Kind::Flag,
                   .optional = true,
                   .unset_label = "by direction",
                   .initial = true}};
  e.weights = {{.name = "pos.bias",
                .help = "Score bias by bucket and head.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {values.integer("buckets"), n.heads};
                },
                .initial = initial_zeros(),
                .illustrative = falling_bias}};
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
