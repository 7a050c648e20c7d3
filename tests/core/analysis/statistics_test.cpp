#include "core/analysis/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(HeadStatistics, DetectsPreviousTokenHeads) {
  const Tensor a = Tensor::from({3, 3}, {1, 0, 0, 1, 0, 0, 0, 1, 0});
  const HeadStatistics s = head_statistics(a, {7, 8, 9});
  EXPECT_DOUBLE_EQ(s.entropy, 0);
  EXPECT_DOUBLE_EQ(s.previous_token, 1);
  EXPECT_DOUBLE_EQ(s.first_token, 0.5);
  EXPECT_DOUBLE_EQ(s.distance, 2.0 / 3);
  EXPECT_TRUE(std::isnan(s.same_token));
  EXPECT_TRUE(std::isnan(s.induction));
}

TEST(HeadStatistics, DetectsInductionHeads) {
  // Tokens 5 6 5: the last attends to position 1, which follows the first 5.
  const Tensor a = Tensor::from({3, 3}, {1, 0, 0, 0.5f, 0.5f, 0, 0.25f, 0.75f, 0});
  const HeadStatistics s = head_statistics(a, {5, 6, 5});
  EXPECT_DOUBLE_EQ(s.induction, 0.75);
  EXPECT_DOUBLE_EQ(s.same_token, 0.25);
}

TEST(HeadStatistics, ComputesEntropyOfUniformRows) {
  const HeadStatistics s = head_statistics(Tensor::full({2, 8}, 0.125f), {});
  EXPECT_DOUBLE_EQ(s.entropy, 3);
}

TEST(HeadStatistics, IgnoresFullyMaskedRows) {
  const Tensor a = Tensor::from({2, 2}, {0, 0, 0.5f, 0.5f});
  EXPECT_DOUBLE_EQ(head_statistics(a, {1, 2}).entropy, 1);
  EXPECT_TRUE(std::isnan(head_statistics(Tensor::zeros({2, 2}), {1, 2}).entropy));
}

TEST(HeadStatistics, CountsMemoryColumnsForEntropyOnly) {
  const Tensor a = Tensor::from({2, 4}, {0.5f, 0, 0.5f, 0, 0, 0, 0.5f, 0.5f});
  const HeadStatistics s = head_statistics(a, {1, 1}, 2);
  EXPECT_DOUBLE_EQ(s.entropy, 1);
  EXPECT_DOUBLE_EQ(s.distance, 0.25);
  EXPECT_DOUBLE_EQ(s.same_token, 0.5);
  EXPECT_DOUBLE_EQ(s.induction, 0.5);
}

// Compares rows longer than the block size of the sums with the definitions.
TEST(HeadStatistics, MatchesDefinitions) {
  for (const auto& [queries, memory] :
       {std::pair<Index, Index>{7, 0}, {6, 3}, {300, 0}, {258, 5}}) {
    const Index columns = queries + memory;
    Tensor weights = testing::random_tensor({queries, columns}, 3);
    for (float& w : weights) w = std::abs(w) < 0.3F ? 0 : std::abs(w);
    for (Index c = 0; c < columns; ++c) weights(Index{2}, c) = 0;  // a fully masked row
    std::vector<std::int32_t> tokens;
    for (Index i = 0; i < queries; ++i) tokens.push_back(static_cast<std::int32_t>(i * i % 5));
    double entropy = 0, distance = 0, first = 0, previous = 0, same = 0, induction = 0;
    double rows = 0, later_rows = 0, repeated_rows = 0;
    for (Index i = 0; i < queries; ++i) {
      double bits = 0, row_distance = 0, on_same = 0, after = 0;
      bool is_repeated = false;
      for (Index c = 0; c < columns; ++c) {
        const auto w = static_cast<double>(weights(i, c));
        if (w > 0) bits -= w * std::log2(w);
        const Index j = c - memory;
        if (j < 0) continue;
        row_distance += w * std::abs(static_cast<double>(i - j));
        if (j < i && tokens[static_cast<std::size_t>(j)] == tokens[static_cast<std::size_t>(i)]) {
          is_repeated = true;
          on_same += w;
          if (c + 1 < columns) after += static_cast<double>(weights(i, c + 1));
        }
      }
      EXPECT_NEAR(row_entropy(weights.data() + i * columns, columns), bits,
                  1e-6 * static_cast<double>(columns));
      if (i == 2) continue;
      ++rows;
      entropy += bits;
      distance += row_distance;
      if (i > 0) {
        ++later_rows;
        first += static_cast<double>(weights(i, memory));
        previous += static_cast<double>(weights(i, memory + i - 1));
      }
      if (is_repeated) {
        ++repeated_rows;
        same += on_same;
        induction += after;
      }
    }
    const HeadStatistics s = head_statistics(weights, tokens, memory);
    EXPECT_NEAR(s.entropy, entropy / rows, 1e-6 * static_cast<double>(columns));
    EXPECT_NEAR(s.distance, distance / rows, 1e-6 * static_cast<double>(columns * columns));
    EXPECT_NEAR(s.first_token, first / later_rows, 1e-6);
    EXPECT_NEAR(s.previous_token, previous / later_rows, 1e-6);
    EXPECT_NEAR(s.same_token, same / repeated_rows, 1e-5);
    EXPECT_NEAR(s.induction, induction / repeated_rows, 1e-5);
    EXPECT_TRUE(std::isnan(head_statistics(weights, {}, memory).same_token));
  }
}

// More queries than keys, as in cross-attention, and no keys at all.
TEST(HeadStatistics, HandlesFewerKeysThanQueries) {
  const Tensor weights = Tensor::from({4, 2}, {0.5F, 0.5F, 0.25F, 0.75F, 1, 0, 0.5F, 0.5F});
  const HeadStatistics s = head_statistics(weights, {1, 1, 1, 1});
  EXPECT_DOUBLE_EQ(s.first_token, (0.25 + 1 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(s.previous_token, (0.25 + 0) / 2);  // mean of two rows
  EXPECT_DOUBLE_EQ(s.distance, (0.5 + 0.25 + 2 + 2.5) / 4);
  EXPECT_DOUBLE_EQ(s.same_token, (0.25 + 1 + 1) / 3);
  EXPECT_DOUBLE_EQ(s.induction, (0.75 + 0 + 0.5) / 3);
  const HeadStatistics memory_only = head_statistics(Tensor::full({3, 2}, 0.5F), {1, 1, 1}, 2);
  EXPECT_DOUBLE_EQ(memory_only.entropy, 1);
  EXPECT_DOUBLE_EQ(memory_only.distance, 0);
  EXPECT_TRUE(std::isnan(memory_only.first_token) && std::isnan(memory_only.previous_token));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
