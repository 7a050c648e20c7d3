#include "tests/support/compare.h"

#include <limits>

namespace attnscope::testing {
namespace ATTNSCOPE_FILE {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Tensor row(const std::vector<float>& values) {
  return Tensor::from({static_cast<Index>(values.size())}, values);
}

TEST(Compare, ScalesWithLargestExpectedNumberAboveOne) {
  EXPECT_TRUE(close(row({0.05f}), row({0}), 0.1));
  EXPECT_TRUE(differs(row({0.2f}), row({0}), 0.1));
  EXPECT_TRUE(close(row({109, 5}), row({100, 0}), 0.1));
  EXPECT_TRUE(differs(row({111, 5}), row({100, 0}), 0.1));
  EXPECT_TRUE(close(row({}), row({}), 0));
}

TEST(Compare, InfinityDoesNotMaskDifferences) {
  for (const float infinity : {kInfinity, -kInfinity}) {
    EXPECT_TRUE(close(row({infinity, 1}), row({infinity, 1}), 1e-3));
    EXPECT_FALSE(close(row({infinity, 2}), row({infinity, 1}), 1e-3));
    EXPECT_TRUE(differs(row({infinity, 2}), row({infinity, 1}), 1e-3));
    for (const float other : {0.0f, 1e30f, -infinity, kNaN}) {
      EXPECT_FALSE(close(row({other, 1}), row({infinity, 1}), 1e-3)) << other;
      EXPECT_FALSE(close(row({infinity, 1}), row({other, 1}), 1e-3)) << other;
    }
  }
}

TEST(Compare, IncomparableIsNeitherCloseNorDifferent) {
  const std::vector<std::pair<Tensor, Tensor>> pairs{
      {row({kNaN}), row({1})},       {row({1}), row({kNaN})}, {row({kNaN}), row({kNaN})},
      {row({1, 1}), row({1})},       {Tensor(), row({})},     {row({kInfinity}), row({1})},
      {row({3, kNaN}), row({1, 1})},
  };
  for (const auto& [got, expected] : pairs) {
    EXPECT_FALSE(close(got, expected, 1));
    EXPECT_FALSE(differs(got, expected, 1));
    EXPECT_EQ(compare(got, expected, 1).agreement, Agreement::NotComparable);
  }
}

TEST(Compare, ReportsLargestDifference) {
  const std::string message = compare(row({1, 7, 3}), row({1, 2, 2}), 1e-3).message;
  EXPECT_NE(message.find("element 1 of [3] is 7 instead of 2"), std::string::npos) << message;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::testing
