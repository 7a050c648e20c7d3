#include "core/training/optimiser.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(LearningRate, WarmsUpAndFallsAlongACosine) {
  EXPECT_DOUBLE_EQ(learning_rate(0, 100, 10, 1.0, 0.1), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(9, 100, 10, 1.0, 0.1), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(10, 100, 10, 1.0, 0.1), 1.0);
  EXPECT_NEAR(learning_rate(55, 100, 10, 1.0, 0.1), 0.55, 1e-12);
  EXPECT_NEAR(learning_rate(100, 100, 10, 1.0, 0.1), 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(learning_rate(0, 1, 0, 1.0, 0.1), 1.0);
}

// Compares with the published update in double precision, for the loss sum(x * slope).
TEST(AdamW, MatchesPublishedUpdate) {
  const Tensor start = testing::random_tensor({3, 2}, 1);
  const Tensor slope = testing::random_tensor({3, 2}, 2);
  AdamSettings settings;
  settings.clip = 0.5;
  AdamW optimiser(settings);
  NamedVars parameters;
  parameters.emplace("x", Var::parameter(start.copy()));
  std::vector<double> x(start.begin(), start.end()), m(6), v(6);
  double norm = 0;
  for (const float g : slope) norm += static_cast<double>(g) * static_cast<double>(g);
  norm = std::sqrt(norm);
  for (int step = 1; step <= 5; ++step) {
    backward(sum(multiply(parameters.find("x")->second, slope)));
    EXPECT_NEAR(optimiser.step(parameters, 0.01), norm, 1e-5);
    for (std::size_t i = 0; i < 6; ++i) {
      const double g = static_cast<double>(slope[static_cast<Index>(i)]) * 0.5 / norm;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.95 * v[i] + 0.05 * g * g;
      const double unbiased_m = m[i] / (1 - std::pow(0.9, step));
      const double unbiased_v = v[i] / (1 - std::pow(0.95, step));
      x[i] -= 0.01 * (unbiased_m / (std::sqrt(unbiased_v) + 1e-8) + 0.1 * x[i]);
    }
  }
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(parameters.find("x")->second.value()[static_cast<Index>(i)], x[i], 1e-5);
  }
}

TEST(AdamW, DoesNotDecayGainsOrUnusedWeights) {
  AdamW optimiser({0.9, 0.95, 1e-8, 0.5, 0});
  NamedVars parameters;
  parameters.emplace("gain", Var::parameter(Tensor::full({2}, 3)));
  parameters.emplace("unused", Var::parameter(Tensor::full({2, 2}, 3)));
  backward(scale(sum(parameters.find("gain")->second), 0.0f));
  optimiser.step(parameters, 0.1);
  EXPECT_EQ(parameters.find("gain")->second.value()[0], 3);
  EXPECT_EQ(parameters.find("unused")->second.value()[0], 3);
}

// Updates of a bounded parameter are proportional to its upper bound, and its values stay between 0
// and the bound.
TEST(AdamW, ScalesUpdatesOfBoundedParameters) {
  constexpr double kMax = 200;
  AdamW bounded({0.9, 0.95, 1e-8, 0, 0}), unbounded({0.9, 0.95, 1e-8, 0, 0});
  bounded.set_upper_bounds({{"z", kMax}});
  NamedVars z{{"z", Var::parameter(Tensor::from({3}, {100, 199, 3}))}};
  NamedVars fraction{{"z", Var::parameter(Tensor::from({3}, {0.5F, 0.995F, 0.015F}))}};
  const float gradients[] = {0.3F, -2, 0.01F};
  for (int n = 0; n < 3; ++n) {
    for (auto* parameters : {&z, &fraction}) {
      const Tensor weights = Tensor::from({3}, {gradients[0], gradients[1], gradients[2]});
      backward(sum(multiply(parameters->at("z"), Var(weights))));
    }
    bounded.step(z, 0.01);
    unbounded.step(fraction, 0.01);
  }
  const Tensor& values = z.at("z").value();
  EXPECT_NEAR(values[0], kMax * fraction.at("z").value()[0], 1e-3);
  EXPECT_EQ(values[1], kMax);  // at the bound
  EXPECT_EQ(values[2], 0);
}

TEST(AdamW, IgnoresNonFiniteGradients) {
  AdamW optimiser({});
  NamedVars parameters;
  parameters.emplace("x", Var::parameter(Tensor::full({2}, 3)));
  backward(scale(sum(parameters.find("x")->second), std::numeric_limits<float>::quiet_NaN()));
  EXPECT_FALSE(std::isfinite(optimiser.step(parameters, 0.1)));
  EXPECT_EQ(parameters.find("x")->second.value()[0], 3);
}

TEST(LearningRate, IsDefinedAfterTheLastStep) {
  EXPECT_DOUBLE_EQ(learning_rate(9, 10, 10, 1.0, 0.1), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate(10, 10, 10, 1.0, 0.1), 1.0);
  EXPECT_NEAR(learning_rate(11, 10, 10, 1.0, 0.1), 0.1, 1e-12);
  EXPECT_NEAR(learning_rate(400, 100, 10, 1.0, 0.1), 0.1, 1e-12);  // stays at the minimum
}

// Compares with the published update in double precision. Several threads update the parameter, and
// the gradient norms are below and above the clipping norm.
TEST(AdamW, UpdatesEveryEntryOfLongParameters) {
  constexpr Index kCount = 3 * 8192 + 4096 + 77;
  const AdamSettings settings{0.9, 0.95, 1e-3, 0, 30};
  AdamW optimiser(settings);
  const Tensor start = testing::random_tensor({kCount}, 5);
  NamedVars parameters{{"x", Var::parameter(start.copy())}};
  std::vector<double> x(start.begin(), start.end()), m(kCount), v(kCount);
  for (int step = 1; step <= 4; ++step) {
    // The gradient norms of the steps are about 9, 90, 0.9 and 180.
    const double scale =
        std::vector<double>{0.05, 0.5, 0.005, 1}[static_cast<std::size_t>(step) - 1];
    const Tensor slope =
        testing::random_tensor({kCount}, 10 + static_cast<std::uint64_t>(step), scale);
    double norm = 0;
    for (const float g : slope) norm += static_cast<double>(g) * static_cast<double>(g);
    norm = std::sqrt(norm);
    backward(sum(multiply(parameters.at("x"), slope)));
    EXPECT_NEAR(optimiser.step(parameters, 0.01), norm, 1e-4 * norm);
    const double clipping = norm > 30 ? 30 / norm : 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double g = static_cast<double>(slope[static_cast<Index>(i)]) * clipping;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.95 * v[i] + 0.05 * g * g;
      x[i] -= 0.01 * (m[i] / (1 - std::pow(0.9, step))) /
              (std::sqrt(v[i] / (1 - std::pow(0.95, step))) + 1e-3);
    }
  }
  const Tensor& values = parameters.at("x").value();
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(values[static_cast<Index>(i)], x[i], 1e-5) << i;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
