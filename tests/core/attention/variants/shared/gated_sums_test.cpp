// Gated sums of features, features of rotated queries and keys, and the reported state.
#include "core/attention/variants/shared/gated_sums.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::OperationSizes;
using testing::random_tensor;

constexpr ResultRequest kReport{.output = true, .attention = true};

OperationInput operation(const Json& json, const OperationSizes& sizes, bool causal,
                         std::uint64_t seed = 1) {
  return testing::random_operation(sizes, variant_from_json(json, "variant"), default_encoding(),
                                   causal, seed);
}

OperationInput gated_operation(const OperationSizes& sizes, std::uint64_t seed = 1) {
  return operation({{"type", "rfa"}, {"features", 12}, {"gate", true}}, sizes, true, seed);
}

// Returns the features φ of RFA, computed from the definition. [2 D]
std::vector<double> waves(const OperationInput& input, Index a, const float* x) {
  const Tensor& w = input.weights.at("rfa.w").value();  // [h, D, d_k]
  const Index count = w.dim(1), size = w.dim(2);
  double square = 0;
  for (Index n = 0; n < size; ++n) square += static_cast<double>(x[n]) * x[n];
  std::vector<double> features(static_cast<std::size_t>(2 * count));
  for (Index t = 0; t < count; ++t) {
    double angle = 0;
    for (Index n = 0; n < size; ++n) angle += w(a, t, n) * x[n] / std::sqrt(square);
    const double factor = std::sqrt(1.0 / static_cast<double>(count));
    features[static_cast<std::size_t>(t)] = factor * std::sin(angle);
    features[static_cast<std::size_t>(count + t)] = factor * std::cos(angle);
  }
  return features;
}

double gate(const OperationInput& input, Index a, Index t) {
  double logit = input.weights.at("rfa.gate.b").value()[a];
  const Tensor& x = input.x.value();
  for (Index n = 0; n < x.dim(2); ++n) {
    logit += input.weights.at("rfa.gate.w").value()(a, n) * x(0, t, n);
  }
  return 1 / (1 + std::exp(-logit));
}

// Results of the recurrence S_t = g_t S_{t-1} + (1 - g_t) φ(k_t) ⊗ v_t, computed step by step.
struct Recurrence {
  Tensor output, state;
};
Recurrence compute_recurrence(const OperationInput& input) {
  const Tensor &q = input.q.value(), &k = input.k.value(), &v = input.v.value();
  const Index heads = q.dim(0), length = q.dim(1), size = q.dim(2), values = v.dim(2);
  const Index features = 2 * input.weights.at("rfa.w").dim(1);
  Recurrence result{Tensor({heads, length, values}), Tensor({heads, features, values})};
  for (Index a = 0; a < heads; ++a) {
    std::vector<double> s(static_cast<std::size_t>(features * values)), z(s.size());
    for (Index t = 0; t < length; ++t) {
      const double g = gate(input, a, t);
      const auto k_features = waves(input, a, k.data() + (a * length + t) * size);
      const auto q_features = waves(input, a, q.data() + (a * length + t) * size);
      double sum = 0;
      std::vector<double> row(static_cast<std::size_t>(values));
      for (Index f = 0; f < features; ++f) {
        const auto index = static_cast<std::size_t>(f);
        z[index] = g * z[index] + (1 - g) * k_features[index];
        sum += q_features[index] * z[index];
        for (Index c = 0; c < values; ++c) {
          double& cell = s[static_cast<std::size_t>(f * values + c)];
          cell = g * cell + (1 - g) * k_features[index] * v(a, t, c);
          row[static_cast<std::size_t>(c)] += q_features[index] * cell;
        }
      }
      for (Index c = 0; c < values; ++c) {
        result.output(a, t, c) = static_cast<float>(row[static_cast<std::size_t>(c)] / sum);
      }
    }
    for (Index n = 0; n < features * values; ++n) {
      result.state[a * features * values + n] = static_cast<float>(s[static_cast<std::size_t>(n)]);
    }
  }
  return result;
}

TEST(GatedSums, MatchTheRecurrence) {
  for (const Index length : {1, 2, 16, 150}) {
    OperationSizes sizes;
    sizes.length = length;
    const OperationInput input = gated_operation(sizes, static_cast<std::uint64_t>(length));
    const Recurrence expected = compute_recurrence(input);
    const OperationResult report = evaluate(input, cpu_backend(), kReport);
    EXPECT_TRUE(close(report.output.value(), expected.output, 1e-4)) << length;
    EXPECT_TRUE(close(report.extra.at("state"), expected.state, 1e-5)) << length;
    // The reported weights times the values are the output.
    Tensor weighted_sum = Tensor::zeros(expected.output.shape());
    for (Index a = 0; a < weighted_sum.dim(0); ++a) {
      for (Index i = 0; i < length; ++i) {
        for (Index j = 0; j < length; ++j) {
          for (Index c = 0; c < weighted_sum.dim(2); ++c) {
            weighted_sum(a, i, c) += report.attention(a, i, j) * input.v.value()(a, j, c);
          }
        }
      }
    }
    EXPECT_TRUE(close(weighted_sum, expected.output, 1e-4)) << length;
    EXPECT_TRUE(close(evaluate(input, cpu_backend(), {}).output.value(), expected.output, 1e-4))
        << length << ", computed in blocks";
  }
}

// Tests heads that forget immediately, slowly or never, and gates beyond the range of exp().
TEST(GatedSums, KeepPrecisionForAllGates) {
  OperationSizes sizes;
  sizes.heads = sizes.kv_heads = 4;
  sizes.length = 300;
  OperationInput input = gated_operation(sizes);
  for (const float spread : {0.1F, 30.0F, 300.0F}) {
    input.weights["rfa.gate.b"] = Tensor::from({4}, {-60, -1, 3, 70});
    input.weights["rfa.gate.w"] = random_tensor({4, sizes.model}, 5, static_cast<double>(spread));
    const OperationResult block_result = evaluate(input, cpu_backend(), {});
    const OperationResult report = evaluate(input, cpu_backend(), kReport);
    for (const float x : report.attention) ASSERT_TRUE(std::isfinite(x));
    // If the gates leave few keys in a row, the row's weights may be large and have both signs.
    EXPECT_TRUE(close(block_result.output.value(), report.output.value(), 1e-3)) << spread;
  }
}

TEST(GatedSums, StayFiniteForLongTexts) {
  OperationSizes sizes;
  sizes.heads = sizes.kv_heads = 2;
  sizes.length = 5000;
  OperationInput input = gated_operation(sizes);
  input.weights["rfa.gate.b"] = Tensor::from({2}, {-2, 4});
  const OperationResult result =
      evaluate(input, cpu_backend(), {.output = true, .log_sum_exp = true});
  for (const float x : result.output.value()) ASSERT_TRUE(std::isfinite(x));
  const Recurrence expected = compute_recurrence(input);
  EXPECT_TRUE(close(result.output.value(), expected.output, 1e-3));
  EXPECT_TRUE(close(result.extra.at("state"), expected.state, 1e-5));
}

// 90 rows are divided into several blocks.
TEST(GatedSums, PropagateGradientsThroughBlocks) {
  OperationSizes sizes;
  sizes.length = 90;
  OperationInput input = gated_operation(sizes);
  input.weights["rfa.gate.b"] = Tensor::from({2}, {-1, 0});
  std::vector<Var*> inputs = {&input.weights["rfa.gate.b"],
                              &input.weights["rfa.gate.w"],
                              &input.q,
                              &input.k,
                              &input.v,
                              &input.x};
  for (Var* var : inputs) *var = Var::parameter(var->value().copy());
  const Tensor direction = random_tensor({2, 90, 3}, 7);
  const auto gradients = [&](const ResultRequest& wanted_results) {
    for (Var* var : inputs) var->clear_gradient();
    backward(sum(multiply(evaluate(input, cpu_backend(), wanted_results).output, direction)));
    std::vector<Tensor> result;
    for (Var* var : inputs) result.push_back(var->gradient().copy());
    return result;
  };
  const std::vector<Tensor> block_gradients = gradients({}), report_gradients = gradients(kReport);
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    EXPECT_TRUE(testing::same_gradient(block_gradients[n], report_gradients[n], 1e-3)) << n;
  }
}

TEST(GatedSums, RejectInvalidInputs) {
  OperationInput input = gated_operation({});
  input.x = Var();
  EXPECT_THROW(evaluate(input, cpu_backend(), {}), InputError);
  input = gated_operation({});
  input.causal = false;
  EXPECT_THROW(evaluate(input, cpu_backend(), {}), InputError);
  input = gated_operation({});
  input.y = input.x;
  EXPECT_THROW(evaluate(input, cpu_backend(), {}), InputError);
}

// Rotates the pairs (2t, 2t + 1) of row i by i · 10000^(-2t/d).
Tensor rotate_pairs(const Tensor& x) {
  Tensor result(x.shape());
  for (Index a = 0; a < x.dim(0); ++a) {
    for (Index i = 0; i < x.dim(1); ++i) {
      for (Index t = 0; 2 * t < x.dim(2); ++t) {
        const double angle =
            static_cast<double>(i) *
            std::pow(10000.0, -2.0 * static_cast<double>(t) / static_cast<double>(x.dim(2)));
        const double p = x(a, i, 2 * t), q = x(a, i, 2 * t + 1);
        result(a, i, 2 * t) = static_cast<float>(p * std::cos(angle) - q * std::sin(angle));
        result(a, i, 2 * t + 1) = static_cast<float>(p * std::sin(angle) + q * std::cos(angle));
      }
    }
  }
  return result;
}

TEST(Features, UseRotatedQueriesAndKeys) {
  for (const Json& json : {Json{{"type", "linear"}}, Json{{"type", "rfa"}, {"features", 8}},
                           Json{{"type", "rfa"}, {"features", 8}, {"gate", true}},
                           Json{{"type", "performer"}, {"features", 8}},
                           Json{{"type", "performer"}, {"features", 8}, {"kind", "trig"}}}) {
    SCOPED_TRACE(json.dump());
    OperationInput input = operation(json, {}, true);
    OperationInput rotated_input = input;
    rotated_input.q = rotate_pairs(input.q.value());
    rotated_input.k = rotate_pairs(input.k.value());
    input.encoding = encoding_from_json({{"type", "rope"}}, "position");
    const OperationResult result = evaluate(input, cpu_backend(), kReport);
    const OperationResult expected = evaluate(rotated_input, cpu_backend(), kReport);
    EXPECT_TRUE(close(result.attention, expected.attention, 1e-4));
    EXPECT_TRUE(close(result.output.value(), expected.output.value(), 1e-4));
    for (const auto& [name, tensor] : expected.extra) {
      EXPECT_TRUE(close(result.extra.at(name), tensor, 1e-4)) << name;
    }
    const OperationResult unrotated_result =
        evaluate(operation(json, {}, true), cpu_backend(), kReport);
    EXPECT_TRUE(testing::differs(result.attention, unrotated_result.attention, 1e-2));
  }
}

using Feature = std::function<std::vector<double>(const OperationInput&, Index a, const float* x)>;

// φ of Performer for y = x d_k^(-1/4): exp(w·y - |y|²/2), or exp(|y|²/2) times sin(w·y) and
// cos(w·y).
std::vector<double> performer_features(const OperationInput& input, Index a, const float* x,
                                       bool is_positive) {
  const Tensor& w = input.weights.at("performer.w").value();
  const Index count = w.dim(1), size = w.dim(2);
  const double input_scale = std::pow(static_cast<double>(size), -0.25);
  double half_square = 0;
  for (Index n = 0; n < size; ++n) half_square += x[n] * input_scale * x[n] * input_scale / 2;
  std::vector<double> first, second;
  const double factor = 1 / std::sqrt(static_cast<double>(count));
  for (Index t = 0; t < count; ++t) {
    double product = 0;
    for (Index n = 0; n < size; ++n) product += w(a, t, n) * x[n] * input_scale;
    first.push_back(factor * (is_positive ? std::exp(product - half_square)
                                          : std::exp(half_square) * std::sin(product)));
    if (!is_positive) second.push_back(factor * std::exp(half_square) * std::cos(product));
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(Features, ReportTheirState) {
  const Feature elu = [](const OperationInput& input, Index, const float* x) {
    std::vector<double> result;
    for (Index n = 0; n < input.k.dim(2); ++n) {
      result.push_back(x[n] > 0 ? x[n] + 1.0 : std::exp(static_cast<double>(x[n])));
    }
    return result;
  };
  const std::vector<std::pair<Json, Feature>> cases = {
      {{{"type", "linear"}}, elu},
      {{{"type", "rfa"}, {"features", 8}}, waves},
      {{{"type", "performer"}, {"features", 8}},
       [](const OperationInput& input, Index a, const float* x) {
         return performer_features(input, a, x, true);
       }},
      {{{"type", "performer"}, {"features", 8}, {"kind", "trig"}},
       [](const OperationInput& input, Index a, const float* x) {
         return performer_features(input, a, x, false);
       }}};
  OperationSizes sizes;
  sizes.batch = 2;
  sizes.heads = 4;
  for (const auto& [json, feature] : cases) {
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(json.dump());
      const OperationInput input = operation(json, sizes, causal);
      const Tensor state = evaluate(input, cpu_backend(), kReport).extra.at("state");
      const Index keys = sizes.length, d_k = sizes.key, d_v = sizes.value;
      Tensor expected = Tensor::zeros(state.shape());
      ASSERT_EQ(state.dim(0), 4);
      ASSERT_EQ(state.dim(2), d_v);
      for (Index a = 0; a < 4; ++a) {
        for (Index j = 0; j < keys; ++j) {
          const auto phi = feature(input, a, input.k.value().data() + (a / 2 * keys + j) * d_k);
          ASSERT_EQ(static_cast<Index>(phi.size()), state.dim(1));
          for (Index t = 0; t < state.dim(1); ++t) {
            for (Index c = 0; c < d_v; ++c) {
              expected(a, t, c) += static_cast<float>(phi[static_cast<std::size_t>(t)] *
                                                      input.v.value()(a / 2, j, c));
            }
          }
        }
      }
      EXPECT_TRUE(close(state, expected, 1e-5));
    }
  }
}

TEST(Features, OmitStateBeyondFloat32) {
  OperationInput input =
      operation({{"type", "performer"}, {"features", 8}, {"kind", "trig"}}, {}, true);
  input.k = random_tensor(input.k.shape(), 3, 30);
  const OperationResult result = evaluate(input, cpu_backend(), kReport);
  EXPECT_FALSE(result.extra.contains("state"));
  ASSERT_EQ(result.remarks.size(), 1u);
  EXPECT_TRUE(result.remarks[0].starts_with("state: "));
}

// Training needs no reports.
TEST(Features, ReportNothingUnlessRequested) {
  for (const OperationInput& input :
       {gated_operation({}), operation({{"type", "linear"}}, {}, true)}) {
    EXPECT_TRUE(evaluate(input, cpu_backend(), {}).extra.empty());
  }
}

// Up to d_k directions are orthogonal. Orthogonalisation keeps the length of each drawn direction.
TEST(Features, DrawOrthogonalDirections) {
  constexpr Index kSize = 6, kCount = 6;
  const auto directions = [&](bool is_orthogonal) {
    // For the single key k = d_k^(1/4) e_n with v = 1, the state is φ(k), and log φ_t(k) = w_tn -
    // 1/2 - log √m for m features.
    Tensor w({kCount, kSize});
    for (Index n = 0; n < kSize; ++n) {
      OperationInput input;
      input.heads = input.kv_heads = 1;
      input.q = random_tensor({1, 1, kSize}, 1);
      Tensor k = Tensor::zeros({1, 1, kSize});
      k[n] = static_cast<float>(std::pow(static_cast<double>(kSize), 0.25));
      input.k = k;
      input.v = Tensor::full({1, 1, 1}, 1);
      input.variant = variant_from_json(
          {{"type", "performer"}, {"features", kCount}, {"orthogonal", is_orthogonal}}, "variant");
      const Tensor state = evaluate(input, cpu_backend(), kReport).extra.at("state");
      for (Index t = 0; t < kCount; ++t) {
        w(t, n) =
            static_cast<float>(std::log(state[t] * std::sqrt(static_cast<double>(kCount))) + 0.5);
      }
    }
    return w;
  };
  const auto product = [](const Tensor& w, Index s, Index t) {
    double sum = 0;
    for (Index n = 0; n < kSize; ++n) sum += w(s, n) * w(t, n);
    return sum;
  };
  const Tensor w = directions(true), independent = directions(false);
  double max_product = 0;
  for (Index s = 0; s < kCount; ++s) {
    EXPECT_GT(product(w, s, s), 0.1);
    for (Index t = 0; t < s; ++t) {
      EXPECT_NEAR(product(w, s, t), 0, 1e-3);
      max_product = std::max(max_product, std::abs(product(independent, s, t)));
    }
  }
  EXPECT_GT(max_product, 0.1);
  // Orthogonalisation leaves the first direction unchanged.
  EXPECT_GT(product(w, 0, 0), 0);
  double projection = 0;
  for (Index n = 0; n < kSize; ++n) projection += w(0, n) * independent(0, n);
  EXPECT_NEAR(projection, std::sqrt(product(w, 0, 0) * product(independent, 0, 0)), 1e-3);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
