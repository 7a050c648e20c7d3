#include "core/view/parts/token_flow.h"

#include <gtest/gtest.h>

#include <variant>

#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::ViewInputFixture;

class TokenFlowTest : public ::testing::Test {
 protected:
  static constexpr Box kBox{20, 10, 300, 100};

  // Draws tokens "t0", "t1" ... so that token `required` is visible, and checks that all boxes are
  // inside kBox.
  TokenFlow draw(std::size_t count, std::size_t required) {
    const Trace trace = testing::synthetic_trace(1, 1, 4);
    const ViewInputFixture fixture(trace, {});
    Page page(fixture.input);
    std::vector<FlowToken> tokens;
    for (std::size_t n = 0; n < count; ++n) {
      tokens.push_back({"t" + std::to_string(n), Colour{200, 200, 200, 255}});
    }
    const TokenFlow flow = draw_token_flow(page, kBox, tokens, required);
    texts_.clear();
    const DisplayList list = page.take(kBox.bottom());
    for (const Item& item : list.items) {
      if (const auto* text = std::get_if<Text>(&item)) texts_.push_back(text->text);
    }
    for (const Box& b : flow.boxes) {
      EXPECT_GE(b.x, kBox.x);
      EXPECT_LE(b.right(), kBox.right() + 0.5);
      EXPECT_LE(b.bottom(), kBox.bottom() + 0.5);
    }
    return flow;
  }
  bool has_text(const std::string& text) const {
    return std::find(texts_.begin(), texts_.end(), text) != texts_.end();
  }

  std::vector<std::string> texts_;
};

TEST_F(TokenFlowTest, ShowsAllThatFit) {
  const TokenFlow flow = draw(8, 0);
  EXPECT_EQ(flow.first, 0U);
  EXPECT_EQ(flow.boxes.size(), 8U);
  EXPECT_EQ(texts_.size(), 8U);
}

TEST_F(TokenFlowTest, CountsHiddenTokensAfter) {
  const TokenFlow flow = draw(200, 3);
  EXPECT_EQ(flow.first, 0U);
  EXPECT_TRUE(has_text("and " + std::to_string(200 - flow.boxes.size()) + " more"));
}

TEST_F(TokenFlowTest, DrawsRequiredTokenAndCountsHiddenBefore) {
  for (const std::size_t required : {60U, 137U, 199U}) {
    const TokenFlow flow = draw(200, required);
    EXPECT_GT(flow.first, 0U);
    EXPECT_GE(required, flow.first);
    EXPECT_LT(required, flow.first + flow.boxes.size());
    EXPECT_TRUE(has_text("t" + std::to_string(required)));
    EXPECT_TRUE(has_text(std::to_string(flow.first) + " before"));
  }
  EXPECT_EQ(texts_.back(), "t199");  // no count of hidden tokens follows
}

TEST_F(TokenFlowTest, FindsTokenAtPoint) {
  const TokenFlow flow = draw(200, 137);
  const Box& third = flow.boxes[2];
  EXPECT_EQ(flow.at({third.x + 1, third.y + 1}), static_cast<Index>(flow.first + 2));
  EXPECT_EQ(flow.at({0, 0}), -1);
}

// Most tokens keep their position while the text grows by one token.
TEST_F(TokenFlowTest, StaysInPlaceWhileTextGrows) {
  int moves = 0;
  std::size_t first = draw(150, 149).first;
  for (std::size_t count = 151; count <= 180; ++count) {
    const std::size_t current = draw(count, count - 1).first;
    moves += current != first;
    first = current;
  }
  EXPECT_LE(moves, 4);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
