#include "core/analysis/divergence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Divergence, MatchesKnownRows) {
  const Tensor a = Tensor::from({2, 2}, {0.5f, 0.5f, 1, 0});
  const Tensor b = Tensor::from({2, 2}, {0.25f, 0.75f, 0.5f, 0.5f});
  const std::vector<double> kl = row_divergences(a, b, Divergence::KullbackLeibler);
  EXPECT_NEAR(kl[0], 0.5 * std::log2(0.5 / 0.25) + 0.5 * std::log2(0.5 / 0.75), 1e-12);
  EXPECT_NEAR(kl[1], 1, 1e-12);
  const std::vector<double> reverse = row_divergences(a, b, Divergence::Reverse);
  EXPECT_NEAR(reverse[0], 0.25 * std::log2(0.5) + 0.75 * std::log2(1.5), 1e-12);
  EXPECT_TRUE(std::isinf(reverse[1]));  // b has weight where a has none
  const std::vector<double> js = row_divergences(a, b, Divergence::JensenShannon);
  EXPECT_NEAR(js[1], (std::log2(1 / 0.75) + 0.5 * std::log2(0.5 / 0.75) + 0.5) / 2, 1e-12);
}

// Only an excluded pair makes a divergence infinite, however small a weight is.
TEST(Divergence, IsFiniteForAllowedPairs) {
  const Tensor a = Tensor::from({1, 2}, {0.5f, 0.5f});
  const Tensor small = Tensor::from({1, 2}, {1, 1e-30f}), underflow = Tensor::from({1, 2}, {1, 0});
  EXPECT_NEAR(row_divergences(a, small, Divergence::KullbackLeibler)[0],
              0.5 * std::log2(0.5) + 0.5 * std::log2(0.5 / 1e-30), 1e-6);
  const Tensor allowed = Tensor::zeros({1, 2});
  const Tensor excluded = Tensor::from({1, 2}, {0, NAN});
  EXPECT_NEAR(row_divergences(a, underflow, Divergence::KullbackLeibler, {allowed, allowed})[0],
              0.5 * std::log2(0.5) + 0.5 * (149 - 1), 1e-6);
  EXPECT_TRUE(std::isinf(
      row_divergences(a, underflow, Divergence::KullbackLeibler, {allowed, excluded})[0]));
  EXPECT_NEAR(row_divergences(underflow, a, Divergence::KullbackLeibler, {excluded, allowed})[0], 1,
              1e-12);
  EXPECT_THROW(row_divergences(a, a, Divergence::KullbackLeibler, {Tensor::zeros({1, 3}), {}}),
               InputError);
}

TEST(Divergence, HandlesRowsWithoutWeights) {
  const Tensor zero_row = Tensor::zeros({1, 2});
  const Tensor uniform_row = Tensor::from({1, 2}, {0.5f, 0.5f});
  EXPECT_EQ(row_divergences(zero_row, zero_row, Divergence::KullbackLeibler)[0], 0);
  EXPECT_TRUE(std::isnan(row_divergences(zero_row, uniform_row, Divergence::KullbackLeibler)[0]));
  EXPECT_TRUE(std::isnan(row_divergences(uniform_row, zero_row, Divergence::JensenShannon)[0]));
}

TEST(Divergence, NormalisesRows) {
  const Tensor a = Tensor::from({1, 3}, {1, 2, 3}), b = Tensor::from({1, 3}, {2, 4, 6});
  EXPECT_NEAR(row_divergences(a, b, Divergence::KullbackLeibler)[0], 0, 1e-12);
}

TEST(Divergence, RejectsInvalidRows) {
  const Tensor two_keys = Tensor::zeros({1, 2}), three_keys = Tensor::zeros({1, 3});
  EXPECT_THROW(row_divergences(two_keys, three_keys, Divergence::KullbackLeibler), InputError);
  EXPECT_THROW(difference(two_keys, three_keys), InputError);
  const Tensor negative = Tensor::from({1, 2}, {-0.5f, 1});
  EXPECT_THROW(row_divergences(negative, two_keys, Divergence::KullbackLeibler), InputError);
}

TEST(Difference, IsAMinusB) {
  const Tensor a = testing::random_tensor({3, 4}, 1), b = testing::random_tensor({3, 4}, 2);
  const Tensor d = difference(a, b);
  for (Index i = 0; i < d.size(); ++i) EXPECT_EQ(d[i], a[i] - b[i]);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
