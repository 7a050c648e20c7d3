#include "core/base/progress.h"

#include <gtest/gtest.h>

#include <thread>

namespace attnscope {
namespace ATTNSCOPE_FILE {

void wait_milliseconds(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(Progress, ReportsFractionOfWholeWork) {
  Progress progress;
  EXPECT_EQ(progress.snapshot().stage, "");
  EXPECT_EQ(progress.snapshot().share, 0);
  progress.begin_stage("layer 2 of 4", 0.25, 0.5);
  EXPECT_EQ(progress.snapshot().stage, "layer 2 of 4");
  EXPECT_NEAR(progress.snapshot().share, 0.25, 1e-12);
  progress.set_stage_fraction(0.5);
  EXPECT_NEAR(progress.snapshot().share, 0.375, 1e-12);
  progress.set_stage_fraction(7);
  EXPECT_NEAR(progress.snapshot().share, 0.5, 1e-12);
}

TEST(Progress, EstimatesTimeLeft) {
  Progress progress;
  progress.begin_stage("reading the model", 0, 0);
  wait_milliseconds(250);
  EXPECT_LT(progress.snapshot().seconds_left, 0);  // size unknown
  progress.begin_stage("layer 1 of 2", 0, 0.5);
  progress.set_stage_fraction(0.4);
  EXPECT_LT(progress.snapshot().seconds_left, 0);  // too soon
  wait_milliseconds(250);
  // A fifth of the work took a quarter of a second, so the rest takes one second. A busy machine
  // needs more.
  EXPECT_GT(progress.snapshot().seconds_left, 0.99);
  EXPECT_LT(progress.snapshot().seconds_left, 8);
  progress.begin_stage("collecting notes", 1, 1);
  EXPECT_LT(progress.snapshot().seconds_left, 0);
  EXPECT_EQ(progress.snapshot().share, 1);
  progress.begin_stage("layer 1 of 2", 0, 0.5);  // begins another run
  progress.set_stage_fraction(0.5);
  EXPECT_LT(progress.snapshot().seconds_left, 0);
}

TEST(Progress, RoundsTimeLeft) {
  EXPECT_EQ(time_left_text(-1), "");
  EXPECT_EQ(time_left_text(0.2), "about 1 s left");
  EXPECT_EQ(time_left_text(7.4), "about 7 s left");
  EXPECT_EQ(time_left_text(43), "about 45 s left");
  EXPECT_EQ(time_left_text(117), "about 2 min left");
  EXPECT_EQ(time_left_text(2 * 3600), "about 2 h left");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
