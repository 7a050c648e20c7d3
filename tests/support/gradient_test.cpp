#include "tests/support/gradient.h"

#include <cmath>
#include <limits>

namespace attnscope::testing {
namespace ATTNSCOPE_FILE {

// f = sum of scale * x^2 / 2, whose gradient is scale * x.
class Gradient : public ::testing::Test {
 protected:
  double f() const {
    double sum = 0;
    for (const float x : values_) sum += 0.5 * scale_ * static_cast<double>(x) * x;
    return sum;
  }
  Tensor gradient() const {
    Tensor g(values_.shape());
    for (Index i = 0; i < g.size(); ++i) g[i] = static_cast<float>(scale_ * values_[i]);
    return g;
  }
  ::testing::AssertionResult check(const Tensor& gradient, const Differences& options = {}) const {
    return is_gradient(
        gradient, values_, [this] { return f(); }, options);
  }

  Tensor values_ = Tensor::from({4}, {1, -2, 0.5f, 3});
  double scale_ = 1;
};

TEST_F(Gradient, AcceptsGradientsOfAnySize) {
  for (const double scale : {1e-4, 1.0, 1e4}) {
    scale_ = scale;
    EXPECT_TRUE(check(gradient()));
    Tensor wrong = gradient();
    wrong[2] *= 1.1f;  // 2% of the largest
    EXPECT_FALSE(check(wrong)) << scale;
    EXPECT_FALSE(check(Tensor::zeros({4}))) << scale;
  }
  EXPECT_EQ(values_[1], -2);
}

TEST_F(Gradient, ChecksLargestComponent) {
  Tensor wrong = gradient();
  wrong[3] = 30;
  EXPECT_TRUE(check(gradient(), {.max_elements = 1}));
  EXPECT_FALSE(check(wrong, {.max_elements = 1}));
}

TEST_F(Gradient, RejectsZeroGradient) {
  scale_ = 0;
  EXPECT_FALSE(check(gradient()));
  const auto is_zero_gradient = [this](const Tensor& g) {
    return has_no_gradient(g, values_, [this] { return f(); }, 0, {});
  };
  EXPECT_TRUE(is_zero_gradient(gradient()));
  EXPECT_TRUE(is_zero_gradient(Tensor()));
  EXPECT_FALSE(is_zero_gradient(Tensor::full({4}, 1e-3f)));
  scale_ = 1;
  EXPECT_FALSE(is_zero_gradient(Tensor::zeros({4})));
}

TEST_F(Gradient, RejectsNaNAndOtherShapes) {
  Tensor invalid = gradient();
  invalid[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(check(invalid, {.max_elements = 1}));
  EXPECT_FALSE(check(Tensor()));
  EXPECT_FALSE(check(gradient().reshaped({2, 2})));
}

TEST_F(Gradient, ComparesAlternativeGradientAtItsScale) {
  for (const float scale : {1e-6f, 1.0f, 1e6f}) {
    const Tensor expected = Tensor::from({3}, {scale, -4 * scale, 0});
    EXPECT_TRUE(same_gradient(expected.copy(), expected, 1e-3));
    for (const float wrong : {0.01f * scale, std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity()}) {
      Tensor got = expected.copy();
      got[2] = wrong;
      EXPECT_FALSE(same_gradient(got, expected, 1e-3)) << scale << " " << wrong;
      EXPECT_FALSE(same_gradient(expected, got, 1e-3)) << scale << " " << wrong;
    }
    EXPECT_FALSE(same_gradient(Tensor::zeros({3}), expected, 1e-3));
    EXPECT_FALSE(same_gradient(expected.reshaped({1, 3}), expected, 1e-3));
    EXPECT_FALSE(same_gradient(Tensor(), expected, 1e-3));
  }
  EXPECT_FALSE(same_gradient(Tensor::zeros({3}), Tensor::zeros({3}), 1e-3));
  EXPECT_FALSE(same_gradient(Tensor(), Tensor(), 1e-3));
}

TEST_F(Gradient, UsesBestStep) {
  // |x - 0.999| has a kink that a large step crosses.
  Tensor x = Tensor::from({1}, {1});
  const auto kinked = [&x] { return std::abs(static_cast<double>(x[0]) - 0.999); };
  const Tensor unit_gradient = Tensor::full({1}, 1);
  EXPECT_FALSE(is_gradient(unit_gradient, x, kinked, {.steps = {1e-2f}}));
  EXPECT_TRUE(is_gradient(unit_gradient, x, kinked, {.steps = {1e-2f, 5e-4f}}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::testing
