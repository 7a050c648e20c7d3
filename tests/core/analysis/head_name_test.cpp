#include "core/analysis/head_name.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kLength = 16;

HeadName name_of(const Tensor& map, const std::vector<std::int32_t>& tokens) {
  return head_name(head_statistics(map, tokens),
                   head_baseline(Pattern::causal(map.dim(0), map.dim(1)), 0, tokens));
}

// Name of a head whose causal map has all weight of row i on `key(i)`.
template <class Key>
HeadName name_of_map(const std::vector<std::int32_t>& tokens, Key key) {
  Tensor map = Tensor::zeros({kLength, kLength});
  for (Index i = 0; i < kLength; ++i) map(i, key(i)) = 1;
  return name_of(map, tokens);
}

TEST(HeadName, DependsOnTheMostAttendedKeys) {
  std::vector<std::int32_t> repeated_tokens;  // eight tokens, repeated
  for (Index i = 0; i < kLength; ++i) repeated_tokens.push_back(static_cast<std::int32_t>(i % 8));
  std::vector<std::int32_t> distinct_tokens;
  for (Index i = 0; i < kLength; ++i) distinct_tokens.push_back(static_cast<std::int32_t>(i));
  const auto previous = [](Index i) { return std::max<Index>(0, i - 1); };
  const auto first = [](Index) { return Index{0}; };
  const auto after_copy = [](Index i) { return i >= 8 ? i - 7 : 0; };
  const auto copy = [](Index i) { return i >= 8 ? i - 8 : i; };
  const auto distant = [](Index i) { return i / 3; };
  EXPECT_EQ(name_of_map(distinct_tokens, previous).badge, "previous token");
  EXPECT_EQ(name_of_map(distinct_tokens, first).badge, "first token");
  EXPECT_EQ(name_of_map(repeated_tokens, after_copy).badge, "induction");
  EXPECT_EQ(name_of_map(repeated_tokens, copy).badge, "same token");
  EXPECT_EQ(name_of_map(distinct_tokens, [](Index i) { return i; }).badge, "nearby");
  EXPECT_EQ(name_of_map(distinct_tokens, distant).badge, "");
  EXPECT_EQ(name_of_map(distinct_tokens, previous).description,
            "attends mostly to the previous token: 100%, at equal attention 16% ± 8.9%");
}

TEST(HeadName, EqualAttentionHasNoName) {
  for (const Index length : {4, 16, 80}) {
    Tensor map = Tensor::zeros({length, length});
    for (Index i = 0; i < length; ++i) {
      for (Index j = 0; j <= i; ++j) map(i, j) = 1.0F / static_cast<float>(i + 1);
    }
    EXPECT_EQ(name_of(map, {}).badge, "") << length;
  }
}

// Each row attends to one random key, which varies the statistics as much as possible.
TEST(HeadName, FewRandomHeadsHaveNames) {
  constexpr int kHeads = 1000;
  std::vector<std::int32_t> tokens;
  for (Index i = 0; i < kLength; ++i) tokens.push_back(static_cast<std::int32_t>(i % 6));
  std::mt19937 random(1);
  int named = 0;
  for (int n = 0; n < kHeads; ++n) {
    const HeadName name = name_of_map(
        tokens, [&](Index i) { return std::uniform_int_distribution<Index>(0, i)(random); });
    named += name.badge.empty() ? 0 : 1;
  }
  EXPECT_LE(named, kHeads / 500);
}

TEST(HeadName, BaselineIsEqualAttention) {
  constexpr Index kWindow = 5, kMemory = 2;
  std::vector<std::int32_t> tokens;
  for (Index i = 0; i < kLength; ++i) tokens.push_back(static_cast<std::int32_t>(i % 3));
  PatternBuilder builder(1, kLength, kLength + kMemory, {"window"});
  for (Index i = 0; i < kLength; ++i) {
    builder.add(0, i + kMemory - kWindow, i + kMemory + 1);
    builder.next_row();
  }
  const Pattern pattern = builder.finish();
  Tensor map = Tensor::zeros({kLength, kLength + kMemory});
  for (Index i = 0; i < kLength; ++i) {
    for (Index c = 0; c < kLength + kMemory; ++c) {
      if (pattern.allowed(0, i, c)) map(i, c) = 1.0F / static_cast<float>(pattern.row_size(0, i));
    }
  }
  const HeadStatistics measured = head_statistics(map, tokens, kMemory);
  const HeadStatistics expected = head_baseline(pattern, 0, tokens, kMemory).mean;
  for (double HeadStatistics::*statistic :
       {&HeadStatistics::entropy, &HeadStatistics::distance, &HeadStatistics::first_token,
        &HeadStatistics::previous_token, &HeadStatistics::same_token, &HeadStatistics::induction}) {
    EXPECT_TRUE(std::abs(measured.*statistic - expected.*statistic) <= 1e-5)
        << measured.*statistic << " " << expected.*statistic;
  }
}

TEST(HeadName, IgnoresUnknownStatistics) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const HeadStatistics statistics{unknown, unknown, unknown, unknown, unknown, unknown};
  EXPECT_EQ(head_name(statistics, {statistics, statistics, statistics}).badge, "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
