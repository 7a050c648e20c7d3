#include "core/analysis/columns.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Columns, MeanOmitsOneQueryAndQueriesBeforeTheKey) {
  AttentionTap tap;
  tap.causal = true;
  const Tensor weights = Tensor::from({3, 3}, {1, 0, 0, 0.25f, 0.75f, 0, 0.5f, 0.25f, 0.25f});
  const std::vector<ColumnSum> columns = column_sums(tap, weights);
  EXPECT_NEAR(columns[0].mean_without(0.5), (1 + 0.25) / 2, 1e-12);
  EXPECT_NEAR(columns[1].mean_without(0.25), 0.75, 1e-12);
  EXPECT_TRUE(std::isnan(columns[2].mean_without(0.25)));  // only the last query sees the last key
  EXPECT_TRUE(std::isnan(columns[0].mean_without(NAN)));
}

TEST(Columns, BidirectionalMapCountsAllQueries) {
  AttentionTap tap;
  tap.causal = false;
  const Tensor weights = Tensor::from({2, 2}, {0.5f, 0.5f, NAN, 1});
  const std::vector<ColumnSum> columns = column_sums(tap, weights);
  EXPECT_EQ(columns[0].count, 1);  // without NaN
  EXPECT_NEAR(columns[1].mean_without(1), 0.5, 1e-12);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
