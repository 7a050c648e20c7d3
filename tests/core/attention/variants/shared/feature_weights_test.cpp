// Ratios of features that exceed the range of float32.
#include "core/attention/variants/shared/feature_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/json.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::random_tensor;

OperationInput operation(const char* variant, Tensor q, Tensor k, bool causal) {
  OperationInput input;
  input.variant = variant_from_json(Json::parse(variant), "variant");
  input.heads = input.kv_heads = q.dim(0);
  input.v = random_tensor({k.dim(0), k.dim(1), 3}, 9, 1);
  input.q = std::move(q);
  input.k = std::move(k);
  input.causal = causal;
  return input;
}

// Logarithms of the features φ of a row of head a.
using LogFeatures = std::function<std::vector<double>(Index a, const float* x, Index size)>;

// Weights a_ij, computed from the definition in double precision. Products are divided by the row's
// largest product to avoid overflow.
Tensor expected_weights(const OperationInput& input, const LogFeatures& features) {
  const Tensor &q = input.q.value(), &k = input.k.value();
  const Index heads = q.dim(0), queries = q.dim(1), keys = k.dim(1), size = q.dim(2);
  Tensor weights = Tensor::zeros({heads, queries, keys});
  for (Index a = 0; a < heads; ++a) {
    for (Index i = 0; i < queries; ++i) {
      const Index key_count = input.causal ? i + 1 : keys;
      const auto q_logs = features(a, q.data() + (a * queries + i) * size, size);
      std::vector<double> logs;
      for (Index j = 0; j < key_count; ++j) {
        const auto k_logs = features(a, k.data() + (a * keys + j) * size, size);
        double maximum = -std::numeric_limits<double>::infinity(), sum = 0;
        for (std::size_t t = 0; t < q_logs.size(); ++t)
          maximum = std::max(maximum, q_logs[t] + k_logs[t]);
        for (std::size_t t = 0; t < q_logs.size(); ++t)
          sum += std::exp(q_logs[t] + k_logs[t] - maximum);
        logs.push_back(maximum + std::log(sum));
      }
      const double maximum = *std::max_element(logs.begin(), logs.end());
      double sum = 0;
      for (const double l : logs) sum += std::exp(l - maximum);
      for (Index j = 0; j < key_count; ++j) {
        weights(a, i, j) =
            static_cast<float>(std::exp(logs[static_cast<std::size_t>(j)] - maximum) / sum);
      }
    }
  }
  return weights;
}

std::vector<double> log_elu(Index, const float* x, Index size) {
  std::vector<double> logs(x, x + size);
  for (double& l : logs) l = l > 0 ? std::log1p(l) : l;
  return logs;
}

// Checks the operation twice: once with its weights requested, once with only its output requested.
void expect_weights(const OperationInput& input, const LogFeatures& features) {
  const Tensor weights = expected_weights(input, features);
  const OperationResult result = evaluate(input, cpu_backend(), {.attention = true});
  EXPECT_TRUE(close(result.attention, weights, 2e-5));
  const Tensor& v = input.v.value();
  Tensor output = Tensor::zeros({v.dim(0), weights.dim(1), v.dim(2)});
  for (Index a = 0; a < output.dim(0); ++a) {
    for (Index i = 0; i < output.dim(1); ++i) {
      for (Index j = 0; j < weights.dim(2); ++j) {
        for (Index n = 0; n < v.dim(2); ++n) output(a, i, n) += weights(a, i, j) * v(a, j, n);
      }
    }
  }
  EXPECT_TRUE(close(result.output.value(), output, 2e-5));
  const OperationResult output_only = evaluate(input, cpu_backend(), {});
  EXPECT_TRUE(close(output_only.output.value(), output, 2e-5));
}

TEST(FeatureWeights, SupportUnderflowOfLinearFeatures) {
  const Tensor q = Tensor::from({1, 2, 1}, {-80, -80}), k = Tensor::from({1, 2, 1}, {-80, -79});
  for (const bool causal : {false, true}) {
    expect_weights(operation(R"({"type": "linear"})", q, k, causal), log_elu);
  }
  for (const double deviation : {1.0, 20.0, 60.0, 150.0, 300.0, 3000.0}) {
    for (const bool causal : {false, true}) {
      const auto seed = static_cast<std::uint64_t>(deviation);
      expect_weights(operation(R"({"type": "linear"})", random_tensor({2, 70, 3}, seed, deviation),
                               random_tensor({2, 70, 3}, seed + 1, deviation), causal),
                     log_elu);
    }
  }
}

TEST(FeatureWeights, SupportOverflowOfLinearProducts) {
  expect_weights(operation(R"({"type": "linear"})", Tensor::from({1, 2, 1}, {3e38f, 1}),
                           Tensor::from({1, 2, 1}, {3e38f, 1.5e38f}), false),
                 log_elu);
}

LogFeatures log_positive(const Tensor& w) {  // [h, m, d_k]
  return [w](Index a, const float* x, Index size) {
    const double shrink = std::pow(static_cast<double>(size), -0.25);
    std::vector<double> logs;
    for (Index t = 0; t < w.dim(1); ++t) {
      double log = 0;
      for (Index n = 0; n < size; ++n) {
        const double y = static_cast<double>(x[n]) * shrink;
        log += static_cast<double>(w(a, t, n)) * y - y * y / 2;
      }
      logs.push_back(log);
    }
    return logs;
  };
}

TEST(FeatureWeights, SupportDistantKeysOfPerformer) {
  const Tensor single_direction = Tensor::from({1, 1, 1}, {0.5f});
  OperationInput two_keys =
      operation(R"({"type": "performer", "features": 1})", Tensor::from({1, 2, 1}, {1, 1}),
                Tensor::from({1, 2, 1}, {20, 0}), true);
  two_keys.weights["performer.w"] = single_direction;
  expect_weights(two_keys, log_positive(single_direction));
  const Tensor w = random_tensor({2, 5, 3}, 1, 1);
  for (const double deviation : {1.0, 5.0, 20.0, 100.0, 1e20}) {
    for (const bool causal : {false, true}) {
      OperationInput input = operation(R"({"type": "performer", "features": 5})",
                                       random_tensor({2, 70, 3}, 2, deviation),
                                       random_tensor({2, 70, 3}, 3, deviation), causal);
      input.weights["performer.w"] = w;
      expect_weights(input, log_positive(w));
    }
  }
}

TEST(FeatureWeights, SupportWavesBeforeMuchLargerKey) {
  OperationInput input =
      operation(R"({"type": "performer", "features": 1, "kind": "trig"})",
                Tensor::from({1, 2, 1}, {1, 1}), Tensor::from({1, 2, 1}, {0.5f, 20}), true);
  input.weights["performer.w"] = Tensor::from({1, 1, 1}, {0.5f});
  const OperationResult result = evaluate(input, cpu_backend(), {.attention = true});
  EXPECT_TRUE(close(result.attention, Tensor::from({1, 2, 2}, {1, 0, 0, 1}), 2e-5));
}

TEST(FeatureWeights, MatchDoublePrecisionForRandomWaves) {
  const Index features = 3, length = 40, size = 3;
  const Tensor w = random_tensor({2, features, size}, 1);
  OperationInput input =
      operation(R"({"type": "rfa", "features": 3, "sigma": 0.2})",
                random_tensor({2, length, size}, 2), random_tensor({2, length, size}, 3), true);
  input.weights["rfa.w"] = Tensor(w);
  for (float& x : input.weights["rfa.w"].mutable_value()) x *= 5;
  const Tensor& scaled_w = input.weights["rfa.w"].value();
  const auto angle = [&](Index a, Index t, const Tensor& x, Index row) {
    double square = 0, product = 0;
    for (Index n = 0; n < size; ++n) {
      const double y = x(a, row, n);
      square += y * y;
      product += y * static_cast<double>(scaled_w(a, t, n));
    }
    return product / std::sqrt(square);
  };
  Tensor weights = Tensor::zeros({2, length, length});
  for (Index a = 0; a < 2; ++a) {
    for (Index i = 0; i < length; ++i) {
      std::vector<double> row;
      double sum = 0;
      for (Index j = 0; j <= i; ++j) {
        double product = 0;
        for (Index t = 0; t < features; ++t) {
          product += std::cos(angle(a, t, input.q.value(), i) - angle(a, t, input.k.value(), j));
        }
        row.push_back(product);
        sum += product;
      }
      for (Index j = 0; j <= i; ++j) {
        weights(a, i, j) = static_cast<float>(row[static_cast<std::size_t>(j)] / sum);
      }
    }
  }
  const OperationResult result = evaluate(input, cpu_backend(), {.attention = true});
  EXPECT_TRUE(close(result.attention, weights, 1e-6));
}

// If plain features fit float32, their gradients equal the gradients of feature_weights().
TEST(FeatureWeights, MatchGradientsOfPlainFeatures) {
  Tensor q = random_tensor({2, 5, 3}, 1);
  for (float& x : q) x = std::round(x * 256) / 256;  // makes `q - shift` exact
  const Tensor k = random_tensor({2, 6, 3}, 2, 1), v = random_tensor({2, 6, 2}, 3, 1);
  const Tensor output_gradient = random_tensor({2, 5, 2}, 4, 1);
  const auto gradients = [&](float shift) {
    Var q_var = Var::parameter(q), k_var = Var::parameter(k);
    OperationInput input = operation(R"({"type": "linear"})", q, k, false);
    // Subtracts `shift` from the exponent of every query feature. The shift cancels in the ratio.
    input.q = subtract(q_var, Var(Tensor::full({1}, shift)));
    input.k = k_var;
    input.v = v;
    backward(sum(multiply(evaluate(input, cpu_backend(), {}).output, output_gradient)));
    return std::pair(q_var.gradient(), k_var.gradient());
  };
  const auto plain_gradients = gradients(30), pairwise_gradients = gradients(200);
  EXPECT_TRUE(testing::same_gradient(pairwise_gradients.first, plain_gradients.first, 2e-5));
  EXPECT_TRUE(testing::same_gradient(pairwise_gradients.second, plain_gradients.second, 2e-5));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
