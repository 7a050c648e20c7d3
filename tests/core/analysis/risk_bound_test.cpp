#include "core/analysis/risk_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "core/base/random.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// P(Bin(n, p) <= max) by adding one trial at a time.
double binomial(Index max, Index n, double p) {
  std::vector<double> chance(static_cast<std::size_t>(n) + 1);
  chance[0] = 1;
  for (Index trial = 0; trial < n; ++trial) {
    for (std::size_t k = chance.size() - 1; k > 0; --k) {
      chance[k] = chance[k] * (1 - p) + chance[k - 1] * p;
    }
    chance[0] *= 1 - p;
  }
  double sum = 0;
  for (Index k = 0; k <= std::min(max, n); ++k) sum += chance[static_cast<std::size_t>(k)];
  return sum;
}

TEST(RiskBound, IsTheSmallerOfBothInequalities) {
  for (const Index n : {1, 5, 40, 300}) {
    for (const double tolerance : {0.05, 0.3, 0.9}) {
      for (Index hits = 0; hits <= n; hits += std::max<Index>(1, n / 7)) {
        const double mean = static_cast<double>(hits) / static_cast<double>(n);
        const double a = std::min(mean, tolerance);
        double h = (1 - a) * std::log((1 - a) / (1 - tolerance));
        if (a > 0) h += a * std::log(a / tolerance);
        const double expected = std::min({1.0, std::exp(-static_cast<double>(n) * h),
                                          std::numbers::e * binomial(hits, n, tolerance)});
        const double bound = hoeffding_bentkus(mean, n, tolerance);
        EXPECT_TRUE(std::abs(bound - expected) <= 1e-9 * expected + 1e-300)
            << n << " " << tolerance << " " << hits << ": " << bound << " " << expected;
      }
    }
  }
}

// A risk above the tolerance is accepted no more often than the level allows.
TEST(RiskBound, RarelyAcceptsTooHighRisks) {
  constexpr double kTolerance = 0.2, kLevel = 0.1;
  constexpr int kTrials = 4000;
  constexpr Index kCount = 50;
  Random random(7);
  int accepted = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    double sum = 0;
    for (Index n = 0; n < kCount; ++n) sum += random.below(1000) < 200 ? 1 : 0;
    if (hoeffding_bentkus(sum / kCount, kCount, kTolerance) <= kLevel) ++accepted;
  }
  EXPECT_TRUE(accepted <= kLevel * kTrials) << accepted;
  EXPECT_TRUE(accepted > 0);
}

TEST(RiskBound, IsOneWithoutASample) {
  EXPECT_EQ(hoeffding_bentkus(0, 0, 0.1), 1);
  EXPECT_EQ(hoeffding_bentkus(std::nan(""), 100, 0.1), 1);
  EXPECT_EQ(hoeffding_bentkus(0.5, 100, 0), 1);
  EXPECT_EQ(hoeffding_bentkus(0.5, 100, 0.1), 1);
}

TEST(RiskBound, HandlesCertaintyAndSingleTokens) {
  EXPECT_EQ(hoeffding_bentkus(0.3, 10, 1), 0);
  EXPECT_EQ(hoeffding_bentkus(1, 10, 1), 0);
  EXPECT_NEAR(hoeffding_bentkus(0, 1, 0.5), 0.5, 1e-12);
  EXPECT_EQ(hoeffding_bentkus(1, 1, 0.5), 1);
  EXPECT_EQ(hoeffding_bentkus(-0.1, 10, 0.5), 1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
