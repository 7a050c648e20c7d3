#include "core/model/sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor logits_of(const std::vector<float>& values) {
  return Tensor::from({static_cast<Index>(values.size())}, values);
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-9) << i;
}

// Logarithms of 0.1, 0.4, 0.2, 0.3, plus a constant that cancels.
const Tensor kLogits =
    logits_of({std::log(0.1f) + 3, std::log(0.4f) + 3, std::log(0.2f) + 3, std::log(0.3f) + 3});

std::vector<double> rounded(std::vector<double> p) {
  for (double& x : p) x = std::round(x * 1e6) / 1e6;
  return p;
}

TEST(Sample, ComputesSoftmax) {
  expect_near(rounded(probabilities(kLogits, {})), {0.1, 0.4, 0.2, 0.3});
}

TEST(Sample, DividesByTemperature) {
  // Squares of the probabilities, normalised: 1, 16, 4 and 9 of 30.
  expect_near(rounded(probabilities(kLogits, {.temperature = 0.5})),
              {0.033333, 0.533333, 0.133333, 0.3});
  const std::vector<double> hot = probabilities(kLogits, {.temperature = 1e9});
  for (const double p : hot) EXPECT_NEAR(p, 0.25, 1e-6);
  expect_near(probabilities(kLogits, {.temperature = 1e-12}), {0, 1, 0, 0});
  expect_near(probabilities(kLogits, {.temperature = 0}), {0, 1, 0, 0});
  expect_near(probabilities(logits_of({1, 5, 5}), {.temperature = 0}), {0, 1, 0});
}

TEST(Sample, KeepsTopK) {
  expect_near(rounded(probabilities(kLogits, {.top_k = 2})), {0, 0.571429, 0, 0.428571});
  expect_near(rounded(probabilities(kLogits, {.top_k = 9})), {0.1, 0.4, 0.2, 0.3});
  expect_near(probabilities(logits_of({7, 7, 7}), {.top_k = 2}), {0.5, 0.5, 0});
}

TEST(Sample, KeepsNucleus) {
  expect_near(rounded(probabilities(kLogits, {.top_p = 0.65})), {0, 0.571429, 0, 0.428571});
  expect_near(rounded(probabilities(kLogits, {.top_p = 0.75})), {0, 0.444444, 0.222222, 0.333333});
  expect_near(probabilities(kLogits, {.top_p = 1e-9}), {0, 1, 0, 0});
  // Top-k leaves two tokens with probabilities 4/7 and 3/7. The first alone reaches top_p.
  expect_near(probabilities(kLogits, {.top_k = 2, .top_p = 0.5}), {0, 1, 0, 0});
}

TEST(Sample, HandlesExtremeLogits) {
  expect_near(probabilities(logits_of({3e38f, -3e38f, -kInfinity}), {}), {1, 0, 0});
  expect_near(probabilities(logits_of({-kInfinity, -1000, -kInfinity}), {.top_p = 0.9}), {0, 1, 0});
  EXPECT_THROW(probabilities(logits_of({0, std::nanf("")}), {}), WorkError);
  EXPECT_THROW(probabilities(logits_of({std::nanf(""), 0}), {.temperature = 0}), WorkError);
  EXPECT_THROW(probabilities(logits_of({0, kInfinity}), {}), WorkError);
  EXPECT_THROW(probabilities(logits_of({-kInfinity}), {}), WorkError);
}

TEST(Sample, RejectsInvalidSettings) {
  for (const Sampling& invalid :
       {Sampling{.temperature = -1}, Sampling{.temperature = std::nan("")},
        Sampling{.temperature = std::numeric_limits<double>::infinity()}, Sampling{.top_k = -1},
        Sampling{.top_p = 0}, Sampling{.top_p = 1.01}, Sampling{.top_p = std::nan("")}}) {
    EXPECT_THROW(probabilities(kLogits, invalid), InputError);
  }
}

TEST(Sample, DrawsByProbability) {
  const std::vector<double> p = {0.1, 0, 0.6, 0.3, 0};
  Random random(4);
  std::vector<int> count(p.size());
  constexpr int kDraws = 20000;
  for (int n = 0; n < kDraws; ++n) ++count[static_cast<std::size_t>(sample(p, random))];
  EXPECT_EQ(count[1], 0);
  EXPECT_EQ(count[4], 0);
  for (std::size_t i = 0; i < p.size(); ++i) {
    // Tolerance: five standard deviations.
    EXPECT_NEAR(count[i], kDraws * p[i], 5 * std::sqrt(kDraws * p[i] * (1 - p[i]))) << i;
  }
}

TEST(Sample, IsDeterministicInTheSeed) {
  const std::vector<double> p = probabilities(kLogits, {});
  Random a(9), b(9), c(10);
  bool differs = false;
  for (int n = 0; n < 50; ++n) {
    const std::int32_t drawn = sample(p, a);
    EXPECT_EQ(drawn, sample(p, b));
    differs = differs || drawn != sample(p, c);
  }
  EXPECT_TRUE(differs);
}

TEST(Sample, RanksMostLikelyTokens) {
  const auto best = likeliest({0.1, 0.4, 0, 0.4, 0.1}, 3);
  ASSERT_EQ(best.size(), 3u);
  EXPECT_EQ(best[0].id, 1);
  EXPECT_EQ(best[1].id, 3);
  EXPECT_EQ(best[2].id, 0);
  EXPECT_EQ(best[2].probability, 0.1);
  EXPECT_EQ(likeliest({0.5, 0, 0.5}, 10).size(), 2u);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
