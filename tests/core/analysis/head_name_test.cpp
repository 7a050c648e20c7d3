#include "core/analysis/head_name.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kLength = 16;

// Name of a head whose causal map has all weight of row i on `key(i)`.
template <class Key>
HeadName name_of_map(const std::vector<std::int32_t>& tokens, Key key) {
  Tensor map = Tensor::zeros({kLength, kLength});
  for (Index i = 0; i < kLength; ++i) map(i, key(i)) = 1;
  return head_name(head_statistics(map, tokens));
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
  EXPECT_EQ(name_of_map(distinct_tokens, distant).badge, "sharp");
}

TEST(HeadName, CallsWideHeadsBroad) {
  constexpr Index kLong = 80;
  Tensor map = Tensor::zeros({kLong, kLong});
  for (Index i = 0; i < kLong; ++i) {
    for (Index j = 0; j <= i; ++j) map(i, j) = 1.0F / static_cast<float>(i + 1);
  }
  EXPECT_EQ(head_name(head_statistics(map, {})).badge, "broad");
}

TEST(HeadName, IgnoresUnknownStatistics) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const HeadStatistics statistics{unknown, unknown, unknown, unknown, unknown, unknown};
  EXPECT_EQ(head_name(statistics).badge, "mixed");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
