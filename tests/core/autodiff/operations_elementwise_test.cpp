#include "core/autodiff/operations_elementwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;

struct Function {
  Var (*operation)(const Var&);
  double (*reference)(double);
};

Var unit_elu(const Var& x) {
  return elu(x);
}

TEST(Activations, AgreeWithDoublePrecision) {
  const std::vector<Function> functions{
      {relu, [](double x) { return std::max(x, 0.0); }},
      {gelu, [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }},
      {gelu_tanh,
       [](double x) {
         return x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) / 2;
       }},
      {silu, [](double x) { return x / (1 + std::exp(-x)); }},
      {tanh, [](double x) { return std::tanh(x); }},
      {sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {softplus, [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
      {unit_elu, [](double x) { return x > 0 ? x : std::expm1(x); }},
      {[](const Var& x) { return elu(x, 1.7f); },
       [](double x) { return x > 0 ? x : static_cast<double>(1.7f) * std::expm1(x); }},
  };
  Tensor x({4001});
  for (Index i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i - 2000) * 0.05f;
  for (std::size_t f = 0; f < functions.size(); ++f) {
    const Tensor y = functions[f].operation(x).value();
    for (Index i = 0; i < x.size(); ++i) {
      const double expected = functions[f].reference(static_cast<double>(x[i]));
      const double difference = std::abs(static_cast<double>(y[i]) - expected);
      EXPECT_TRUE(difference <= 2e-6 * std::max(1.0, std::abs(expected)))
          << "function " << f << " of " << x[i] << " is " << y[i] << " instead of " << expected;
    }
  }
}

TEST(Activations, HaveFiniteGradientsAtExtremes) {
  for (Var (*operation)(const Var&) :
       {relu, gelu, gelu_tanh, silu, tanh, sigmoid, softplus, unit_elu}) {
    const Var x = Var::parameter(Tensor::from({4}, {-1e6f, 1e6f, 0, -1e-30f}));
    backward(sum(operation(x)));
    for (const float g : x.gradient()) EXPECT_TRUE(std::isfinite(g));
  }
}

TEST(Broadcasting, FollowsNumPy) {
  const Tensor a = testing::random_tensor({2, 1, 3}, 1), b = testing::random_tensor({4, 1}, 2);
  const Tensor c = subtract(a, b).value();
  ASSERT_EQ(c.shape(), (Shape{2, 4, 3}));
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 4; ++j) {
      for (Index k = 0; k < 3; ++k) EXPECT_EQ(c(i, j, k), a(i, 0, k) - b(j, 0));
    }
  }
  EXPECT_EQ(add(Tensor::zeros({0, 3}), Tensor::zeros({3})).shape(), (Shape{0, 3}));
  EXPECT_THROW(add(Tensor::zeros({2, 3}), Tensor::zeros({2})), InputError);
}

TEST(Broadcasting, SumsLargeBiases) {
  const Var bias = Var::parameter(Tensor::zeros({300}));
  backward(sum(add(Tensor::zeros({50, 40, 300}), bias)));
  EXPECT_TRUE(close(bias.gradient(), Tensor::full({300}, 2000), 0));
}

TEST(Dropout, KeepsTheMean) {
  const Tensor ones = Tensor::full({100'000}, 1);
  const Tensor y = dropout(ones, 0.25, 3).value();
  double total = 0;
  Index zeros = 0;
  for (const float v : y) {
    EXPECT_TRUE(v == 0 || std::abs(v - 4.0f / 3) < 1e-6f);
    total += static_cast<double>(v);
    zeros += v == 0;
  }
  EXPECT_NEAR(total / 1e5, 1, 0.01);
  EXPECT_NEAR(static_cast<double>(zeros) / 1e5, 0.25, 0.01);
  EXPECT_TRUE(close(dropout(ones, 0.25, 3).value(), y, 0));
  EXPECT_TRUE(testing::differs(dropout(ones, 0.25, 4).value(), y, 0));
  EXPECT_THROW(dropout(ones, 1, 3), InputError);
  EXPECT_THROW(dropout(ones, std::nan(""), 3), InputError);
}

// clamp and relu have zero gradient at their kinks and where they are constant.
TEST(Activations, HaveZeroGradientAtKinks) {
  const Var x = Var::parameter(Tensor::from({3}, {-1, 0, 1}));
  backward(sum(relu(x)));
  EXPECT_TRUE(close(x.gradient(), Tensor::from({3}, {0, 0, 1}), 0));
  const Var y = Var::parameter(Tensor::from({5}, {-3, -2, 0.5f, 3, 4}));
  const Var clamped = clamp(y, -2, 3);
  EXPECT_TRUE(close(clamped.value(), Tensor::from({5}, {-2, -2, 0.5f, 3, 3}), 0));
  backward(sum(clamped));
  EXPECT_TRUE(close(y.gradient(), Tensor::from({5}, {0, 0, 1, 0, 0}), 0));
}

// The arrays have more elements than one thread's share. Rows cross the boundaries between shares.
TEST(Broadcasting, SplitsLargeArraysBetweenThreads) {
  const Tensor a = testing::random_tensor({3, 70'001}, 1), b = testing::random_tensor({3, 1}, 2);
  const Tensor flat = testing::random_tensor({70'001}, 3);
  const Tensor rows = multiply(a, b).value(), columns = subtract(a, flat).value();
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 70'001; ++j) {
      ASSERT_EQ(rows(i, j), a(i, j) * b[i]) << i << " " << j;
      ASSERT_EQ(columns(i, j), a(i, j) - flat[j]) << i << " " << j;
    }
  }
  const Tensor doubled = add(flat, flat).value();
  for (Index j = 0; j < 70'001; ++j) ASSERT_EQ(doubled[j], 2 * flat[j]);
}

TEST(Dropout, AcceptsRatesInHalfOpenUnitInterval) {
  const Tensor x = testing::random_tensor({40}, 1);
  EXPECT_TRUE(close(dropout(x, 0, 3).value(), x, 0));
  EXPECT_THROW(dropout(x, -0.1, 3), InputError);
  EXPECT_NO_THROW(dropout(x, 0.999, 3));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
