#include "core/view/token_axis.h"

#include <gtest/gtest.h>

#include "tests/core/view/synthetic.h"

namespace attnscope {
namespace {

TEST(TokenAxis, StepsAreRound) {
  EXPECT_EQ(label_step(20, 15), 1);
  EXPECT_EQ(label_step(15, 15), 1);
  EXPECT_EQ(label_step(10, 15), 2);
  EXPECT_EQ(label_step(4, 15), 5);
  EXPECT_EQ(label_step(0.3, 15), 50);
  EXPECT_GT(label_step(0, 15), 1000000);  // ends
}

TEST(TokenAxis, LabelsAreTokens) {
  const Trace trace = testing::synthetic_trace(1, 1, 5);
  const TokenAxis axis = key_axis(trace, trace.attention[0]);
  ASSERT_EQ(axis.count(), 5);
  EXPECT_EQ(axis.labels[1], "␣lighthouse");
  EXPECT_TRUE(axis.bands.empty());
}

TEST(TokenAxis, MemoryColumnsAreMarked) {
  Trace trace = testing::synthetic_trace(Pattern::all(4, 10));
  trace.attention[0].result.columns = {
      {KeyKind::Compressed, 2}, {KeyKind::Memory, 4}, {KeyKind::Token, 4}};
  const TokenAxis axis = key_axis(trace, trace.attention[0]);
  ASSERT_EQ(axis.count(), 10);
  EXPECT_EQ(axis.labels[0], "c0");
  EXPECT_EQ(axis.labels[2], "−4");  // its position
  EXPECT_EQ(axis.labels[5], "−1");
  EXPECT_EQ(axis.labels[6], "The");
  ASSERT_EQ(axis.bands.size(), 2u);
  EXPECT_EQ(axis.bands[1].first, 2);
  EXPECT_EQ(axis.bands[1].count, 4);
  EXPECT_EQ(axis.bands[1].name, "memory");
}

TEST(TokenAxis, FewerQueriesThanTokensAreTheLast) {
  Trace trace = testing::synthetic_trace(1, 1, 6);
  trace.attention[0] = testing::synthetic_tap(0, 1, Pattern::all(2, 6));
  const TokenAxis axis = query_axis(trace, trace.attention[0]);
  EXPECT_EQ(axis.labels, (std::vector<std::string>{"␣the", "␣lamp"}));
}

TEST(TokenAxis, MoreKeysThanTokensAreNumbered) {
  Trace trace = testing::synthetic_trace(1, 1, 2);
  trace.attention[0] = testing::synthetic_tap(0, 1, Pattern::all(2, 3));
  EXPECT_EQ(key_axis(trace, trace.attention[0]).labels, (std::vector<std::string>{"0", "1", "2"}));
}

}  // namespace
}  // namespace attnscope
