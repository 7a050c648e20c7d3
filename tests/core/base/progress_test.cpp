#include "core/base/progress.h"

#include <gtest/gtest.h>

#include <thread>

namespace attnscope {
namespace ATTNSCOPE_FILE {

void pass(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(Progress, IsTheShareOfWhatWasEntered) {
  Progress progress;
  EXPECT_EQ(progress.now().what, "");
  EXPECT_EQ(progress.now().share, 0);
  progress.enter("layer 2 of 4", 0.25, 0.5);
  EXPECT_EQ(progress.now().what, "layer 2 of 4");
  EXPECT_NEAR(progress.now().share, 0.25, 1e-12);
  progress.reach(0.5);
  EXPECT_NEAR(progress.now().share, 0.375, 1e-12);
  progress.reach(7);
  EXPECT_NEAR(progress.now().share, 0.5, 1e-12);
}

TEST(Progress, TellsTheTimeThatIsLeft) {
  Progress progress;
  progress.enter("reading the model", 0, 0);
  pass(250);
  EXPECT_LT(progress.now().seconds_left, 0);  // nothing is known of the whole
  progress.enter("layer 1 of 2", 0, 0.5);
  progress.reach(0.4);
  EXPECT_LT(progress.now().seconds_left, 0);  // too soon
  pass(250);
  // A fifth took a quarter of a second, so that the rest takes a whole one; on busy machines more.
  EXPECT_GT(progress.now().seconds_left, 0.99);
  EXPECT_LT(progress.now().seconds_left, 8);
  progress.enter("taking stock", 1, 1);
  EXPECT_LT(progress.now().seconds_left, 0);
  EXPECT_EQ(progress.now().share, 1);
  progress.enter("layer 1 of 2", 0, 0.5);  // another run
  progress.reach(0.5);
  EXPECT_LT(progress.now().seconds_left, 0);
}

TEST(Progress, TimeIsSaidAsExactlyAsItIsKnown) {
  EXPECT_EQ(time_left_words(-1), "");
  EXPECT_EQ(time_left_words(0.2), "about 1 s left");
  EXPECT_EQ(time_left_words(7.4), "about 7 s left");
  EXPECT_EQ(time_left_words(43), "about 45 s left");
  EXPECT_EQ(time_left_words(117), "about 2 min left");
  EXPECT_EQ(time_left_words(2 * 3600), "about 2 h left");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
