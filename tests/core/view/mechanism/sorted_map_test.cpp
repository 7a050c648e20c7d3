#include "core/view/mechanism/sorted_map.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(SortedMap, GroupsKindsInTextOrder) {
  const TokenOrder order = sorted_by({2, 0, 2, 1, 0});
  EXPECT_EQ(order.token, (std::vector<Index>{1, 4, 3, 0, 2}));
  for (std::size_t n = 0; n < order.token.size(); ++n) {
    EXPECT_EQ(order.place[static_cast<std::size_t>(order.token[n])], static_cast<Index>(n));
  }
}

TEST(SortedMap, ReordersNumbersAndLabelsAlike) {
  const TokenOrder rows = sorted_by({1, 0}), columns = sorted_by({2, 1, 0});
  Tensor matrix({2, 3});
  for (Index n = 0; n < 6; ++n) matrix[n] = static_cast<float>(n);
  const Tensor sorted = reordered(matrix, rows, columns);
  EXPECT_EQ(std::vector<float>(sorted.begin(), sorted.end()),
            (std::vector<float>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(reordered(TokenAxis{{}, {"a", "b", "c"}, {}}, columns).labels,
            (std::vector<std::string>{"c", "b", "a"}));
}

TEST(SortedMap, FindsPairOfTextAtPoint) {
  const TokenOrder rows = sorted_by({1, 0}), columns = sorted_by({2, 1, 0});
  const PairAt at{{0, 0, 30, 20}, 0, 0, 2, 3, 2, 3};
  const Pair pair = sorted_pair_at(at, rows, columns, {5, 15});  // second row, first column
  EXPECT_EQ(pair.query, 0);
  EXPECT_EQ(pair.key, 2);
  EXPECT_EQ(sorted_pair_at(at, rows, columns, {35, 15}).query, -1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
