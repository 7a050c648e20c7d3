#include "core/tensor/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Maximum of |f - reference| over [-limit, limit], relative to max(floor, |reference|).
template <class F, class Reference>
double worst_error(F f, Reference reference, float limit, double floor) {
  double worst = 0;
  for (int i = -200'000; i <= 200'000; ++i) {
    const float x = limit * static_cast<float>(i) / 200'000;
    const double expected = reference(static_cast<double>(x));
    const double error = std::abs(static_cast<double>(f(x)) - expected);
    const double relative = error / std::max(floor, std::abs(expected));
    if (!(relative <= worst)) worst = relative;
  }
  return worst;
}

TEST(VectorMath, ExpIsAccurate) {
  const auto reference = [](double x) { return std::exp(x); };
  EXPECT_LE(worst_error(vector_math::exp, reference, 87, 0), 3e-7);
  EXPECT_EQ(vector_math::exp(0.0f), 1.0f);
}

TEST(VectorMath, ExpHasCorrectLimits) {
  EXPECT_EQ(vector_math::exp(-kInfinity), 0.0f);
  EXPECT_EQ(vector_math::exp(-200.0f), 0.0f);
  EXPECT_EQ(vector_math::exp(kInfinity), kInfinity);
  EXPECT_EQ(vector_math::exp(89.0f), kInfinity);
  EXPECT_NEAR(vector_math::exp(88.7f) / std::exp(88.7), 1, 1e-5);
  EXPECT_NEAR(vector_math::exp(-95.0f), std::exp(-95.0), 2e-45);  // a subnormal number
  EXPECT_TRUE(std::isnan(vector_math::exp(std::nanf(""))));
}

TEST(VectorMath, SigmoidTanhAndErfAreAccurate) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto tanh = [](double x) { return std::tanh(x); };
  const auto erf = [](double x) { return std::erf(x); };
  EXPECT_LE(worst_error(vector_math::sigmoid, sigmoid, 80, 0), 5e-7);
  EXPECT_LE(worst_error(vector_math::tanh, tanh, 20, 1e-30), 5e-7);
  EXPECT_LE(worst_error(vector_math::erf, erf, 6, 1e-30), 5e-7);
  EXPECT_EQ(vector_math::tanh(kInfinity), 1.0f);
  EXPECT_EQ(vector_math::tanh(-kInfinity), -1.0f);
  EXPECT_EQ(vector_math::sigmoid(-kInfinity), 0.0f);
  EXPECT_EQ(vector_math::sigmoid(kInfinity), 1.0f);
  EXPECT_NEAR(vector_math::erf(kInfinity), 1, 1e-6);
  for (const auto f : {vector_math::sigmoid, vector_math::tanh, vector_math::erf}) {
    EXPECT_TRUE(std::isnan(f(std::nanf(""))));
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
