#include "app/window/fade.h"

#include <gtest/gtest.h>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

NavigationState at_head(Index h) {
  NavigationState state;
  state.head = h;
  return state;
}

TEST(Fade, BlendsFromOldToNewPicture) {
  Fade fade;
  EXPECT_FALSE(fade.start_if_navigated(at_head(0), 1, true));  // first picture
  EXPECT_EQ(fade.opacity(1, true), 0);
  EXPECT_FALSE(fade.start_if_navigated(at_head(0), 2, true));
  EXPECT_TRUE(fade.start_if_navigated(at_head(1), 3, true));
  EXPECT_EQ(fade.opacity(3, true), 1);
  double previous = 1;
  for (double t = 3.05; t < 3.01 + 0.8 * Fade::kSeconds; t += 0.05) {
    EXPECT_FALSE(fade.start_if_navigated(at_head(1), t, true));
    const double opacity = fade.opacity(t, true);
    EXPECT_LT(opacity, previous);
    EXPECT_GT(opacity, 0);
    EXPECT_TRUE(fade.is_active());
    previous = opacity;
  }
  EXPECT_EQ(fade.opacity(3.1 + Fade::kSeconds, true), 0);
  EXPECT_FALSE(fade.is_active());
}

// The old picture remains visible until the new run is available, for at most kMaxHoldSeconds.
TEST(Fade, HoldsOldPictureUntilRunOrTimeLimit) {
  Fade fade;
  fade.start_if_navigated(at_head(0), 0, true);
  ASSERT_TRUE(fade.start_if_navigated(at_head(1), 1, true));
  EXPECT_EQ(fade.opacity(1.1, false), 1);
  EXPECT_EQ(fade.opacity(1.2, false), 1);
  EXPECT_EQ(fade.opacity(1.2, true), 1);
  EXPECT_LT(fade.opacity(1.3, true), 1);
  Fade late_fade;
  late_fade.start_if_navigated(at_head(0), 0, true);
  ASSERT_TRUE(late_fade.start_if_navigated(at_head(1), 1, true));
  EXPECT_EQ(late_fade.opacity(1 + Fade::kMaxHoldSeconds, false), 1);
  EXPECT_LT(late_fade.opacity(1.1 + Fade::kMaxHoldSeconds, false), 1);
}

TEST(Fade, IsSkippedOnRapidChanges) {
  Fade fade;
  fade.start_if_navigated(at_head(0), 0, true);
  ASSERT_TRUE(fade.start_if_navigated(at_head(1), 1, true));
  EXPECT_FALSE(fade.start_if_navigated(at_head(2), 1.1, true));
  EXPECT_EQ(fade.opacity(1.1, true), 0);
  EXPECT_FALSE(fade.start_if_navigated(at_head(3), 1.2, true));
  EXPECT_EQ(fade.opacity(1.2, true), 0);
  EXPECT_TRUE(fade.start_if_navigated(at_head(4), 2, true));
}

TEST(Fade, IsSkippedIfDisallowed) {
  Fade fade;
  fade.start_if_navigated(at_head(0), 0, true);
  EXPECT_FALSE(fade.start_if_navigated(at_head(1), 1, false));
  EXPECT_EQ(fade.opacity(1, true), 0);
  State state;
  state.run.trace = std::make_shared<Trace>();
  EXPECT_TRUE(may_fade(state));
  state.settings.reduced_motion = true;
  EXPECT_FALSE(may_fade(state));
  state.settings.reduced_motion = false;
  state.view.held_handle = 0;
  EXPECT_FALSE(may_fade(state));
}

TEST(Fade, NavigatesByStepLayerAndHeadOnly) {
  State state;
  const NavigationState initial = navigation_state(state);
  state.session.edit().view.id = "lines";
  state.session.edit().run.text = "another";
  EXPECT_EQ(navigation_state(state), initial);
  state.session.edit().view.layer = 1;
  EXPECT_NE(navigation_state(state), initial);
  state.session.edit().view.layer = 0;
  state.lesson.step = 1;
  EXPECT_NE(navigation_state(state), initial);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
