#include "app/window/fade.h"

#include <gtest/gtest.h>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

TurnedTo head(Index h) {
  TurnedTo to;
  to.head = h;
  return to;
}

TEST(Fade, GoesFromTheOneToTheOther) {
  Fade fade;
  EXPECT_FALSE(fade.begins(head(0), 1, true));  // the first picture
  EXPECT_EQ(fade.share(1, true), 0);
  EXPECT_FALSE(fade.begins(head(0), 2, true));
  EXPECT_TRUE(fade.begins(head(1), 3, true));
  EXPECT_EQ(fade.share(3, true), 1);
  double before = 1;
  for (double t = 3.05; t < 3.01 + 0.8 * Fade::kSeconds; t += 0.05) {
    EXPECT_FALSE(fade.begins(head(1), t, true));
    const double share = fade.share(t, true);
    EXPECT_LT(share, before);
    EXPECT_GT(share, 0);
    EXPECT_TRUE(fade.on());
    before = share;
  }
  EXPECT_EQ(fade.share(3.1 + Fade::kSeconds, true), 0);
  EXPECT_FALSE(fade.on());
}

// The picture of before stays until the new one's run is there, but not for long.
TEST(Fade, WaitsForTheRun) {
  Fade fade;
  fade.begins(head(0), 0, true);
  ASSERT_TRUE(fade.begins(head(1), 1, true));
  EXPECT_EQ(fade.share(1.1, false), 1);
  EXPECT_EQ(fade.share(1.2, false), 1);
  EXPECT_EQ(fade.share(1.2, true), 1);
  EXPECT_LT(fade.share(1.3, true), 1);
  Fade impatient;
  impatient.begins(head(0), 0, true);
  ASSERT_TRUE(impatient.begins(head(1), 1, true));
  EXPECT_EQ(impatient.share(1 + Fade::kMostHeld, false), 1);
  EXPECT_LT(impatient.share(1.1 + Fade::kMostHeld, false), 1);
}

TEST(Fade, WhoIsInAHurryWaitsForNothing) {
  Fade fade;
  fade.begins(head(0), 0, true);
  ASSERT_TRUE(fade.begins(head(1), 1, true));
  EXPECT_FALSE(fade.begins(head(2), 1.1, true));
  EXPECT_EQ(fade.share(1.1, true), 0);
  EXPECT_FALSE(fade.begins(head(3), 1.2, true));
  EXPECT_EQ(fade.share(1.2, true), 0);
  EXPECT_TRUE(fade.begins(head(4), 2, true));
}

TEST(Fade, NotWhereItIsNotAllowed) {
  Fade fade;
  fade.begins(head(0), 0, true);
  EXPECT_FALSE(fade.begins(head(1), 1, false));
  EXPECT_EQ(fade.share(1, true), 0);
  State state;
  state.trace = std::make_shared<Trace>();
  EXPECT_TRUE(may_fade(state));
  state.settings.reduced_motion = true;
  EXPECT_FALSE(may_fade(state));
  state.settings.reduced_motion = false;
  state.view.held_handle = 0;
  EXPECT_FALSE(may_fade(state));
}

TEST(Fade, IsBetweenStepsLayersAndHeads) {
  State state;
  const TurnedTo at = turned_to(state);
  state.experiment.view.id = "lines";
  state.experiment.text = "another";
  EXPECT_EQ(turned_to(state), at);
  state.experiment.view.layer = 1;
  EXPECT_NE(turned_to(state), at);
  state.experiment.view.layer = 0;
  state.lesson.step = 1;
  EXPECT_NE(turned_to(state), at);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
