// Linear attention with RoPE after the feature map (spec-models.md, section 8), against the
// equation in double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "core/attention/variant.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::OperationSizes;

constexpr Index kLength = 37;
constexpr ResultRequest kMaps{.output = true, .attention = true};

OperationInput rotary_input(const char* rotation, double offset, bool causal) {
  OperationSizes sizes;
  sizes.length = kLength;
  sizes.key = 6;
  const Choice choice = variant_from_json({{"type", "linear"}, {"rotation", rotation}}, "variant");
  const Choice rope = encoding_from_json({{"type", "rope"}, {"offset", offset}}, "position");
  return testing::random_operation(sizes, choice, rope, causal, 5);
}

Tensor weights_at(const char* rotation, double offset, bool causal) {
  return evaluate(rotary_input(rotation, offset, causal), cpu_backend(), kMaps).attention;
}

// (R_i φ(q_i))·(R_j φ(k_j)) / Σ_r φ(q_i)·φ(k_r). Exponents of a row are reduced by the largest one,
// which cancels in the ratio.
Tensor expected_weights(const OperationInput& input) {
  const Tensor &q = input.q.value(), &k = input.k.value();
  const Index size = q.dim(2);
  Tensor expected({q.dim(0), kLength, kLength});
  const auto log_phi = [](float x) { return x > 0 ? std::log1p(static_cast<double>(x)) : x; };
  for (Index a = 0; a < q.dim(0); ++a) {
    for (Index i = 0; i < kLength; ++i) {
      const Index end = input.causal ? i + 1 : kLength;
      double largest = -1e300;
      const auto log_product = [&](Index t, Index j, Index u) {
        return log_phi(q(a, i, t)) + log_phi(k(a, j, u));
      };
      for (Index j = 0; j < end; ++j) {
        for (Index t = 0; t < size; ++t) largest = std::max(largest, log_product(t, j, t));
      }
      double sum = 0;
      for (Index j = 0; j < kLength; ++j) expected(a, i, j) = 0;
      std::vector<double> products;
      for (Index j = 0; j < end; ++j) {
        double product = 0;
        for (Index t = 0; t < size; t += 2) {  // interleaved pairs
          const double angle =
              static_cast<double>(i - j) *
              std::pow(10000.0, -static_cast<double>(t) / static_cast<double>(size));
          const auto term = [&](Index m, Index n) {
            return std::exp(log_product(m, j, n) - largest);
          };
          product += (term(t, t) + term(t + 1, t + 1)) * std::cos(angle);
          product += (term(t, t + 1) - term(t + 1, t)) * std::sin(angle);
          sum += term(t, t) + term(t + 1, t + 1);
        }
        products.push_back(product);
      }
      for (Index j = 0; j < end; ++j) {
        expected(a, i, j) = static_cast<float>(products[static_cast<std::size_t>(j)] / sum);
      }
    }
  }
  return expected;
}

Tensor expected_output(const Tensor& weights, const Tensor& v) {
  Tensor output = Tensor::zeros({weights.dim(0), kLength, v.dim(2)});
  for (Index a = 0; a < weights.dim(0); ++a) {
    for (Index i = 0; i < kLength; ++i) {
      for (Index c = 0; c < v.dim(2); ++c) {
        double sum = 0;
        for (Index j = 0; j < kLength; ++j) {
          sum += static_cast<double>(weights(a, i, j)) * static_cast<double>(v(a, j, c));
        }
        output(a, i, c) = static_cast<float>(sum);
      }
    }
  }
  return output;
}

TEST(RotatedFeatures, MatchTheEquation) {
  for (const bool causal : {false, true}) {
    const OperationInput input = rotary_input("after", 0, causal);
    const OperationResult result = evaluate(input, cpu_backend(), kMaps);
    const Tensor expected = expected_weights(input);
    EXPECT_TRUE(close(result.attention, expected));
    const Tensor output = expected_output(expected, input.v.value());
    EXPECT_TRUE(close(result.output.value(), output));
    EXPECT_TRUE(close(evaluate(input, cpu_backend(), {.output = true}).output.value(), output));
  }
}

// The first queries of a causal text see only keys whose features underflow float32.
TEST(RotatedFeatures, MatchTheEquationBeyondTheRangeOfFloats) {
  OperationInput input = rotary_input("after", 0, true);
  Tensor q = input.q.value().copy(), k = input.k.value().copy();
  for (Index n = 0; n < q.size(); ++n) q[n] = 3 * q[n] - 60;
  for (Index row = 0; row < k.size() / 6; ++row) {
    for (Index t = 0; t < 6; ++t) k[row * 6 + t] -= row % kLength < 4 ? 70 : 40;
  }
  input.q = q;
  input.k = k;
  const Tensor expected = expected_weights(input);
  const OperationResult result = evaluate(input, cpu_backend(), kMaps);
  EXPECT_TRUE(close(result.attention, expected));
  EXPECT_TRUE(close(result.output.value(), expected_output(expected, input.v.value())));
}

TEST(RotatedFeatures, DependOnDistancesAlone) {
  for (const bool causal : {false, true}) {
    EXPECT_TRUE(close(weights_at("after", 100, causal), weights_at("after", 0, causal), 1e-5));
    EXPECT_TRUE(
        testing::differs(weights_at("before", 100, causal), weights_at("before", 0, causal), 1e-3));
  }
}

TEST(RotatedFeatures, EqualPlainFeaturesWithoutRotation) {
  for (const char* rotation : {"before", "after"}) {
    OperationInput input = rotary_input(rotation, 0, true);
    input.encoding = default_encoding();
    const OperationInput plain = testing::random_operation(
        {.length = kLength, .key = 6}, variant_from_json({{"type", "linear"}}, "variant"),
        default_encoding(), true, 5);
    EXPECT_TRUE(close(evaluate(input, cpu_backend(), kMaps).attention,
                      evaluate(plain, cpu_backend(), kMaps).attention, 0));
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
