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

// For each centroid, returns decay * centroid + (1 - decay) * mean of the unit rows in its cluster.
// Centroids of empty clusters do not change.
Tensor expected_centroids(const OperationInput& input, bool shared, double decay) {
  const Tensor& centroids = input.weights.at("routing.centroid").value();  // [h, c, d_k]
  Tensor result(centroids.shape());
  const Index clusters = centroids.dim(1), size = centroids.dim(2);
  for (Index a = 0; a < input.heads; ++a) {
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(clusters));
    std::vector<double> counts(static_cast<std::size_t>(clusters));
    for (auto& sum : sums) sum.resize(static_cast<std::size_t>(size));
    for (const Var* x : {&input.q, &input.k}) {
      if (shared && x == &input.k) continue;
      for (Index b = 0; b < input.batch; ++b) {
        for (Index i = 0; i < x->dim(1); ++i) {
          const float* row = x->value().data() + ((b * input.heads + a) * x->dim(1) + i) * size;
          double square = 0, max_product = -1e300;
          for (Index n = 0; n < size; ++n) square += static_cast<double>(row[n]) * row[n];
          std::size_t nearest = 0;
          for (Index c = 0; c < clusters; ++c) {
            double product = 0;
            for (Index n = 0; n < size; ++n) product += row[n] * centroids(a, c, n);
            if (product > max_product) {
              max_product = product;
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
      const auto index = static_cast<std::size_t>(c);
      for (Index n = 0; n < size; ++n) {
        const double mean = sums[index][static_cast<std::size_t>(n)] / counts[index];
        result(a, c, n) =
            static_cast<float>(counts[index] > 0 ? decay * centroids(a, c, n) + (1 - decay) * mean
                                                 : centroids(a, c, n));
      }
    }
  }
  return result;
}

TEST(Routing, MovesCentroidsTowardsAssignedRows) {
  const Variant& routing = variant("routing");
  for (const bool shared : {false, true}) {
    for (const double decay : {0.0, 0.9}) {
      const OperationInput input = operation(shared, decay);
      const NamedVars moved = routing.update_constants(input);
      ASSERT_EQ(moved.size(), 1u);
      EXPECT_TRUE(close(moved.at("routing.centroid").value(),
                        expected_centroids(input, shared, decay), 1e-5));
    }
  }
  const OperationInput frozen_input = operation(false, 1);
  EXPECT_TRUE(close(routing.update_constants(frozen_input).at("routing.centroid").value(),
                    frozen_input.weights.at("routing.centroid").value(), 0));
}

TEST(Routing, StartsWithUnitVectors) {
  OperationInput input = operation(false, 0.999);
  input.weights.clear();
  const Tensor initial = variant("routing").update_constants(input).at("routing.centroid").value();
  ASSERT_EQ(initial.shape(), (Shape{2, 3, 4}));
  for (Index row = 0; row < 6; ++row) {
    double square = 0;
    for (Index n = 0; n < 4; ++n)
      square += static_cast<double>(initial[row * 4 + n]) * initial[row * 4 + n];
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
