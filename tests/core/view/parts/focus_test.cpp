#include "core/view/parts/focus.h"

#include <gtest/gtest.h>

#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::ViewInputFixture;

class Focus : public ::testing::Test {
 protected:
  Trace trace_ = testing::synthetic_trace(2, 2, 10);
  const AttentionTap& tap_ = trace_.attention[0];

  Pair focus(const ViewSettings& settings, const std::optional<Pair>& hovered = std::nullopt) {
    const ViewInputFixture fixture(trace_, settings);
    return focus_of(fixture.input, tap_, 0, hovered);
  }
  Index strongest(Index query) const {
    const Tensor weights = attention_row(tap_, 0, query);
    Index best = 0;
    for (Index j = 1; j < tap_.keys(); ++j) {
      if (weights(j) > weights(best)) best = j;
    }
    return best;
  }
};

TEST_F(Focus, PrefersPointerThenPinThenLastQuery) {
  ViewSettings settings;
  EXPECT_EQ(focus(settings).query, 9);
  EXPECT_EQ(focus(settings).key, strongest(9));
  settings.pinned_query = 4;
  settings.pinned_key = 2;
  EXPECT_EQ(focus(settings).query, 4);
  EXPECT_EQ(focus(settings).key, 2);
  const Pair hovered = focus(settings, Pair{6, 1});
  EXPECT_EQ(hovered.query, 6);
  EXPECT_EQ(hovered.key, 1);
}

TEST_F(Focus, CompletesMissingQueryOrKey) {
  ViewSettings settings;
  settings.pinned_query = 5;  // row only
  EXPECT_EQ(focus(settings).query, 5);
  EXPECT_EQ(focus(settings).key, strongest(5));
  settings.pinned_query = -1;
  settings.pinned_key = 3;  // column only
  EXPECT_EQ(focus(settings).query, 9);
  EXPECT_EQ(focus(settings).key, 3);
  const Pair hovered = focus(settings, Pair{-1, 7});
  EXPECT_EQ(hovered.query, 9);
  EXPECT_EQ(hovered.key, 7);
}

// Pins may outlive the text in which they were set.
TEST_F(Focus, IgnoresPinsBeyondText) {
  ViewSettings settings;
  settings.pinned_query = 50;
  settings.pinned_key = 60;
  EXPECT_EQ(focus(settings).query, 9);
  EXPECT_EQ(focus(settings).key, strongest(9));
}

TEST_F(Focus, LabelsAndPositionsAreThoseOfTokens) {
  EXPECT_EQ(query_label(trace_, tap_, 3), key_label(trace_, tap_, 3));
  EXPECT_EQ(query_position(tap_, 3), 3);
  EXPECT_EQ(key_position(tap_, 0, 3), 3);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
