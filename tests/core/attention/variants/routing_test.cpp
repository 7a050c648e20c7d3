// Centroid updates of Routing during training.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/attention/variant.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;

OperationInput operation(bool shared, double decay) {
  testing::OperationSizes sizes;
  sizes.batch = 3;
  const Choice choice = variant_from_json(
      {{"type", "routing"}, {"clusters", 3}, {"shared", shared}, {"decay", decay}}, "variant");
  return testing::random_operation(sizes, choice, default_encoding(), true, 6);
}

// Moving average of each centroid with the mean of the rows in its cluster, which have unit length.
Tensor expected_centroids(const OperationInput& in, bool shared, double decay) {
  const Tensor& old = in.weights.at("routing.centroid").value();  // [h, c, d_k]
  Tensor moved(old.shape());
  const Index clusters = old.dim(1), size = old.dim(2);
  for (Index a = 0; a < in.heads; ++a) {
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(clusters));
    std::vector<double> counts(static_cast<std::size_t>(clusters));
    for (auto& sum : sums) sum.resize(static_cast<std::size_t>(size));
    for (const Var* x : {&in.q, &in.k}) {
      if (shared && x == &in.k) continue;
      for (Index b = 0; b < in.batch; ++b) {
        for (Index i = 0; i < x->dim(1); ++i) {
          const float* row = x->value().data() + ((b * in.heads + a) * x->dim(1) + i) * size;
          double square = 0, best = -1e300;
          for (Index n = 0; n < size; ++n) square += static_cast<double>(row[n]) * row[n];
          std::size_t nearest = 0;
          for (Index c = 0; c < clusters; ++c) {
            double product = 0;
            for (Index n = 0; n < size; ++n) product += row[n] * old(a, c, n);
            if (product > best) {
              best = product;
              nearest = static_cast<std::size_t>(c);
            }
          }
          ++counts[nearest];
          for (Index n = 0; n < size; ++n) {
            sums[nearest][static_cast<std::size_t>(n)] += row[n] / std::sqrt(square);
          }
        }
      }
    }
    for (Index c = 0; c < clusters; ++c) {
      const auto at = static_cast<std::size_t>(c);
      for (Index n = 0; n < size; ++n) {
        const double mean = sums[at][static_cast<std::size_t>(n)] / counts[at];
        moved(a, c, n) = static_cast<float>(
            counts[at] > 0 ? decay * old(a, c, n) + (1 - decay) * mean : old(a, c, n));
      }
    }
  }
  return moved;
}

TEST(Routing, MovesCentroidsTowardsAssignedRows) {
  const Variant& routing = variant("routing");
  for (const bool shared : {false, true}) {
    for (const double decay : {0.0, 0.9}) {
      const OperationInput in = operation(shared, decay);
      const NamedVars moved = routing.update_constants(in);
      ASSERT_EQ(moved.size(), 1u);
      EXPECT_TRUE(
          close(moved.at("routing.centroid").value(), expected_centroids(in, shared, decay), 1e-5));
    }
  }
  const OperationInput frozen = operation(false, 1);
  EXPECT_TRUE(close(routing.update_constants(frozen).at("routing.centroid").value(),
                    frozen.weights.at("routing.centroid").value(), 0));
}

TEST(Routing, StartsWithUnitVectors) {
  OperationInput in = operation(false, 0.999);
  in.weights.clear();
  const Tensor first = variant("routing").update_constants(in).at("routing.centroid").value();
  ASSERT_EQ(first.shape(), (Shape{2, 3, 4}));
  for (Index row = 0; row < 6; ++row) {
    double square = 0;
    for (Index n = 0; n < 4; ++n)
      square += static_cast<double>(first[row * 4 + n]) * first[row * 4 + n];
    EXPECT_NEAR(square, 1, 1e-5);
  }
}

// Centroids receive no gradient.
TEST(Routing, DoesNotTrainCentroids) {
  for (const Variant& v : variants()) {
    if (!v.update_constants) continue;
    for (const auto& [name, value] : v.update_constants(operation(false, 0.5))) {
      const auto entry = std::ranges::find(v.weights, name, &WeightInfo::name);
      ASSERT_NE(entry, v.weights.end());
      EXPECT_TRUE(entry->training.constant);
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
