#include "core/checkpoint/snapshots.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

TEST(Snapshots, BelongToTheirTraining) {
  EXPECT_EQ(snapshot_folder("a/copy", 20), "a/copy/snapshots/step-20");
  EXPECT_EQ(snapshot_step("a/copy/snapshots/step-20"), 20);
  EXPECT_EQ(snapshot_step("a/copy/snapshots/step-20/"), 20);
  for (const char* other :
       {"", "a/copy", "a/copy/step-20", "a/copy/snapshots/step-", "a/copy/snapshots/step-07",
        "a/copy/snapshots/step-99999999999999999999", "a/copy/snapshots/step-1x",
        "a/copy/snapshots/step--1"}) {
    EXPECT_FALSE(snapshot_step(other)) << other;
    EXPECT_EQ(training_folder(other), other);
  }
  EXPECT_EQ(training_folder("default"), model_path("default"));
  EXPECT_EQ(training_folder("a/copy/snapshots/step-20"), "a/copy");
  EXPECT_EQ(training_folder("a/copy/snapshots/step-20/"), "a/copy");
}

TEST(Snapshots, AreListedInOrderIfComplete) {
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(snapshot_steps(folder.path()).empty());
  for (const Index step : {100, 0, 20}) {
    make_folder(snapshot_folder(folder.path(), step));
    write_file(snapshot_folder(folder.path(), step) / "config.json", "{}");
  }
  make_folder(snapshot_folder(folder.path(), 40));  // without a model
  make_folder(folder.path() / "snapshots" / ".unfinished");
  EXPECT_EQ(snapshot_steps(folder.path()), (std::vector<Index>{0, 20, 100}));
  remove_snapshots_after(folder.path(), 20);
  EXPECT_EQ(snapshot_steps(folder.path()), (std::vector<Index>{0, 20}));
}

TEST(Snapshots, BecomeSparserWithAge) {
  std::vector<Index> steps;
  for (Index step = 0; step <= 1000; step += 10) {
    steps.push_back(step);
    steps = thinned_steps(steps, 12);
  }
  ASSERT_EQ(steps.size(), 12u);
  EXPECT_EQ(steps.front(), 0);
  EXPECT_EQ(steps.back(), 1000);
  EXPECT_EQ(steps[10], 990);
  EXPECT_GT(steps[2] - steps[1], 4 * (steps[11] - steps[10]));
  EXPECT_EQ(thinned_steps({0, 1}, 1), (std::vector<Index>{0, 1}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
