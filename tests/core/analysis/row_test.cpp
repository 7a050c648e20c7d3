#include "core/analysis/row.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(RowStatistics, DescribesEqualWeights) {
  const float row[] = {0.25F, 0.25F, 0.25F, 0.25F};
  const RowStatistics s = row_statistics(row, 4, 2);
  EXPECT_DOUBLE_EQ(s.entropy, 2);
  EXPECT_DOUBLE_EQ(s.effective, 4);
  EXPECT_EQ(s.largest, 0);  // ties: the lowest column
  EXPECT_EQ(s.strongest, (std::vector<Index>{0, 1}));
}

TEST(RowStatistics, SortsStrongestColumns) {
  const float row[] = {0.1F, 0.6F, 0, 0.3F};
  const RowStatistics s = row_statistics(row, 4, 9);
  EXPECT_EQ(s.strongest, (std::vector<Index>{1, 3, 0}));  // none of weight 0
  EXPECT_EQ(s.largest, 1);
  EXPECT_NEAR(s.sum, 1, 1e-6);
  const double entropy = -(0.1 * std::log2(0.1) + 0.6 * std::log2(0.6) + 0.3 * std::log2(0.3));
  EXPECT_NEAR(s.entropy, entropy, 1e-6);
}

// Negative weights are ordered by magnitude.
TEST(RowStatistics, HandlesNegativeWeights) {
  const float row[] = {0.1F, -0.6F, 0, 0.3F};
  const RowStatistics s = row_statistics(row, 4, 2);
  EXPECT_TRUE(s.has_negative);
  EXPECT_EQ(s.strongest, (std::vector<Index>{1, 3}));
  EXPECT_EQ(s.largest, 1);
  EXPECT_FALSE(row_statistics(row, 1, 2).has_negative);
}

TEST(RowStatistics, HandlesEmptyRows) {
  const float row[] = {0, 0, 0};
  const RowStatistics s = row_statistics(row, 3, 2);
  EXPECT_EQ(s.largest, -1);
  EXPECT_TRUE(s.strongest.empty());
  EXPECT_DOUBLE_EQ(s.entropy, 0);
  EXPECT_EQ(row_statistics(row, 0, 2).largest, -1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
