#include "core/analysis/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace {

TEST(HeadStatistics, PreviousTokenHead) {
  const Tensor a = Tensor::from({3, 3}, {1, 0, 0, 1, 0, 0, 0, 1, 0});
  const HeadStatistics s = head_statistics(a, {7, 8, 9});
  EXPECT_DOUBLE_EQ(s.entropy, 0);
  EXPECT_DOUBLE_EQ(s.previous_token, 1);
  EXPECT_DOUBLE_EQ(s.first_token, 0.5);
  EXPECT_DOUBLE_EQ(s.distance, 2.0 / 3);
  EXPECT_TRUE(std::isnan(s.same_token));
  EXPECT_TRUE(std::isnan(s.induction));
}

TEST(HeadStatistics, InductionHeadLooksAfterTheEarlierOccurrence) {
  // Tokens 5 6 5: the last looks at position 1, which followed the first 5.
  const Tensor a = Tensor::from({3, 3}, {1, 0, 0, 0.5f, 0.5f, 0, 0.25f, 0.75f, 0});
  const HeadStatistics s = head_statistics(a, {5, 6, 5});
  EXPECT_DOUBLE_EQ(s.induction, 0.75);
  EXPECT_DOUBLE_EQ(s.same_token, 0.25);
}

TEST(HeadStatistics, UniformRowsHaveTheEntropyOfTheirLength) {
  const HeadStatistics s = head_statistics(Tensor::full({2, 8}, 0.125f), {});
  EXPECT_DOUBLE_EQ(s.entropy, 3);
}

TEST(HeadStatistics, FullyMaskedRowsDoNotCount) {
  const Tensor a = Tensor::from({2, 2}, {0, 0, 0.5f, 0.5f});
  EXPECT_DOUBLE_EQ(head_statistics(a, {1, 2}).entropy, 1);
  EXPECT_TRUE(std::isnan(head_statistics(Tensor::zeros({2, 2}), {1, 2}).entropy));
}

TEST(HeadStatistics, MemoryColumnsCountForEntropyOnly) {
  const Tensor a = Tensor::from({2, 4}, {0.5f, 0, 0.5f, 0, 0, 0, 0.5f, 0.5f});
  const HeadStatistics s = head_statistics(a, {1, 1}, 2);
  EXPECT_DOUBLE_EQ(s.entropy, 1);
  EXPECT_DOUBLE_EQ(s.distance, 0.25);
  EXPECT_DOUBLE_EQ(s.same_token, 0.5);
  EXPECT_DOUBLE_EQ(s.induction, 0.5);
}

}  // namespace
}  // namespace attnscope
