#include "core/autodiff/operations_reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool all_finite(const Tensor& t) {
  return std::all_of(t.begin(), t.end(), [](float v) { return std::isfinite(v); });
}

TEST(Softmax, IsStableForHugeScores) {
  const Var x = Var::parameter(Tensor::from({3, 3}, {1e4f, -1e4f, 1e4f,        //
                                                     -1e4f, -1e4f - 1, -1e4f,  //
                                                     3e38f, -3e38f, 0}));
  const Var y = softmax(x);
  const double e = std::exp(-1.0), s = 2 + e;
  EXPECT_TRUE(close(y.value(), Tensor::from({3, 3}, {0.5f, 0, 0.5f, static_cast<float>(1 / s),
                                                     static_cast<float>(e / s),
                                                     static_cast<float>(1 / s), 1, 0, 0})));
  backward(sum(y));
  EXPECT_TRUE(close(x.gradient(), Tensor::zeros({3, 3})));
}

TEST(Softmax, ReturnsZerosForRowOfMinusInfinity) {
  const Var x = Var::parameter(Tensor::from({2, 2}, {-kInfinity, -kInfinity, -kInfinity, 1}));
  const Var y = softmax(x);
  EXPECT_TRUE(close(y.value(), Tensor::from({2, 2}, {0, 0, 0, 1}), 0));
  backward(sum(y));
  EXPECT_TRUE(all_finite(x.gradient()));
}

TEST(LogSoftmax, KeepsSmallDifferencesOfLargeNumbers) {
  const Var x = Var::parameter(Tensor::from({1, 2}, {10000, 9999}));
  const Var y = log_softmax(x);
  const double log_sum = std::log1p(std::exp(-1.0));
  EXPECT_NEAR(y.value()[0], -log_sum, 1e-6);
  EXPECT_NEAR(y.value()[1], -1 - log_sum, 1e-6);
  const Var far = log_softmax(Tensor::from({2}, {1e4f, -1e4f}));
  EXPECT_TRUE(close(far.value(), Tensor::from({2}, {0, -2e4f}), 1e-7));
}

TEST(CrossEntropy, AveragesRowsWithTargets) {
  const Var x = Var::parameter(Tensor::from({3, 2}, {0, std::log(3.0f), 5, 5, 1e4f, -1e4f}));
  const Var loss = cross_entropy(x, IntTensor::from({3}, {0, -1, 1}));
  EXPECT_NEAR(loss.value()[0], (std::log(4.0) + 2e4) / 2, 1e-2);
  backward(loss);
  EXPECT_TRUE(
      close(x.gradient(), Tensor::from({3, 2}, {-0.375f, 0.375f, 0, 0, 0.5f, -0.5f}), 1e-6));
}

TEST(CrossEntropy, IsZeroWithoutTargets) {
  const Var x = Var::parameter(testing::random_tensor({2, 3}, 1));
  const Var loss = cross_entropy(x, IntTensor::from({2}, {-1, -1}));
  EXPECT_EQ(loss.value()[0], 0);
  backward(loss);
  EXPECT_TRUE(close(x.gradient(), Tensor::zeros({2, 3}), 0));
}

TEST(CrossEntropy, RejectsInvalidTargets) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_THROW(cross_entropy(x, IntTensor::from({2}, {0, 3})), InputError);
  EXPECT_THROW(cross_entropy(x, IntTensor::from({2}, {0, -2})), InputError);
  EXPECT_THROW(cross_entropy(x, IntTensor::from({1}, {0})), InputError);
}

// Compares with double precision. With the offset, a variance computed in one pass would be
// inaccurate.
TEST(LayerNorm, HandlesTinyVarianceAndLargeMeans) {
  for (const double offset : {0.0, 100.0}) {
    for (const double spread : {0.0, 1e-3, 1.0}) {
      Tensor x({1, 67});
      for (Index i = 0; i < 67; ++i) {
        x[i] = static_cast<float>(offset + spread * std::sin(static_cast<double>(i)));
      }
      double mean = 0, variance = 0;
      for (const float v : x) mean += static_cast<double>(v) / 67;
      for (const float v : x) variance += std::pow(static_cast<double>(v) - mean, 2) / 67;
      Tensor expected({1, 67});
      for (Index i = 0; i < 67; ++i) {
        expected[i] =
            static_cast<float>((static_cast<double>(x[i]) - mean) / std::sqrt(variance + 1e-5));
      }
      const Var parameter = Var::parameter(x);
      const Var y = layer_norm(parameter, Tensor::full({67}, 1), Tensor::zeros({67}), 1e-5);
      EXPECT_TRUE(close(y.value(), expected, 5e-3)) << offset << " " << spread;
      backward(sum(y));
      EXPECT_TRUE(all_finite(parameter.gradient()));
    }
  }
}

TEST(RmsNorm, KeepsZerosZero) {
  const Var x = Var::parameter(Tensor::zeros({2, 8}));
  const Var y = rms_norm(x, Tensor::full({8}, 2), 1e-6);
  EXPECT_TRUE(close(y.value(), Tensor::zeros({2, 8}), 0));
  backward(sum(y));
  EXPECT_TRUE(close(x.gradient(), Tensor::full({2, 8}, 2000), 1e-4));
}

TEST(Norms, RejectInvalidGains) {
  EXPECT_THROW(rms_norm(Tensor::zeros({2, 8}), Tensor::zeros({7}), 1e-6), InputError);
  EXPECT_THROW(layer_norm(Tensor::zeros({2, 8}), Tensor::zeros({8}), Tensor::zeros({1}), 1e-6),
               InputError);
}

TEST(Sums, AcceptEmptyArrays) {
  EXPECT_EQ(sum(Tensor::zeros({0, 3})).value()[0], 0);
  EXPECT_EQ(sum_axis(Tensor::zeros({0, 3}), 0).shape(), (Shape{3}));
  EXPECT_THROW(mean(Tensor::zeros({0})), InputError);
  EXPECT_THROW(sum_axis(Tensor::zeros({2}), 1), InputError);
  EXPECT_EQ(softmax(Tensor::zeros({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_THROW(softmax(Tensor::zeros({})), InputError);
}

TEST(Sums, AcceptEmptyRows) {
  EXPECT_EQ(softmax(Tensor::zeros({3, 0})).shape(), (Shape{3, 0}));
  EXPECT_EQ(log_softmax(Tensor::zeros({3, 0})).shape(), (Shape{3, 0}));
  EXPECT_EQ(unit_rows(Tensor::zeros({3, 0})).shape(), (Shape{3, 0}));
  EXPECT_EQ(sum_axis(Tensor::zeros({3, 0}), 1).shape(), (Shape{3}));
}

TEST(Sums, CountAxesFromBothEnds) {
  const Tensor x = Tensor::from({2, 3}, {1, 2, 3, 40, 50, 60});
  EXPECT_TRUE(close(sum_axis(x, -2).value(), Tensor::from({3}, {41, 52, 63}), 0));
  EXPECT_TRUE(close(sum_axis(x, 1).value(), Tensor::from({2}, {6, 150}), 0));
  EXPECT_THROW(sum_axis(x, -3), InputError);
  EXPECT_THROW(sum_axis(x, 2), InputError);
}

TEST(UnitRows, KeepZerosZero) {
  const Var x = Var::parameter(Tensor::from({2, 2}, {0, 0, 3, 4}));
  const Var y = unit_rows(x);
  EXPECT_TRUE(close(y.value(), Tensor::from({2, 2}, {0, 0, 0.6f, 0.8f}), 1e-6));
  backward(sum(y));
  EXPECT_TRUE(close(x.gradient(), Tensor::from({2, 2}, {0, 0, 0.032f, -0.024f}), 1e-6));
}

// Row sizes around and above 32, the number of partial results per row.
TEST(Softmax, FindsMaximumAtAnyPosition) {
  for (const Index size : {31, 32, 33, 64, 70}) {
    for (Index peak = 0; peak < size; ++peak) {
      Tensor x = Tensor::full({size}, -200);
      x[peak] = 300;
      const Tensor y = softmax(x).value(), z = log_softmax(x).value();
      for (Index i = 0; i < size; ++i) {
        ASSERT_EQ(y[i], i == peak ? 1 : 0) << size << " " << peak;
        ASSERT_EQ(z[i], i == peak ? 0 : -500) << size << " " << peak;
      }
    }
  }
}

TEST(CrossEntropy, AcceptsTargetsBelowSize) {
  const Tensor x = Tensor::from({1, 3}, {0, 0, std::log(2.0f)});
  EXPECT_NEAR(cross_entropy(x, IntTensor::from({1}, {2})).value()[0], std::log(2.0), 1e-6);
  try {
    cross_entropy(x, IntTensor::from({1}, {3}));
    ADD_FAILURE() << "accepted target 3 for a row of three logits";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "cross_entropy: target 3: expected 0 to 2, or -1");
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
