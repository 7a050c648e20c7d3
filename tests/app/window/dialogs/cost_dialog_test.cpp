#include "app/window/dialogs/cost_dialog.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/base/file.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

CostDialog small_dialog() {
  CostDialog dialog;
  dialog.variants = {"linear", "full"};
  dialog.first = 64;
  dialog.last = 16;
  return dialog;
}

void wait_for_task(CostDialog& dialog) {
  while (dialog.task != nullptr) {
    take_cost_results(dialog);
    std::this_thread::yield();
  }
}

TEST(CostDialog, RequestsVariantsInListOrderAndLengthsAscending) {
  const CostRequest request = cost_request(small_dialog());
  ASSERT_EQ(request.variants.size(), 2u);
  EXPECT_EQ(request.variants[0].choice.id, "full");
  EXPECT_TRUE(request.variants[0].uses_published_sizes);
  EXPECT_EQ(request.lengths, (std::vector<Index>{16, 32, 64}));
  EXPECT_TRUE(request.measured);
}

TEST(CostDialog, MeasuresInTheBackground) {
  CostDialog dialog = small_dialog();
  start_cost_measurement(dialog);
  ASSERT_NE(dialog.task, nullptr);
  wait_for_task(dialog);
  EXPECT_EQ(dialog.problem, "");
  ASSERT_EQ(dialog.curves.series.size(), 2u);
  EXPECT_EQ(dialog.curves.series[1].points.size(), 3u);
  EXPECT_TRUE(dialog.curves.series[1].points[2].seconds > 0);
}

TEST(CostDialog, StopKeepsMeasuredPoints) {
  CostDialog dialog = small_dialog();
  dialog.last = 1 << 13;
  start_cost_measurement(dialog);
  while (dialog.curves.series.empty()) take_cost_results(dialog);
  dialog.task->cancel();
  wait_for_task(dialog);
  EXPECT_EQ(dialog.problem, "");
  EXPECT_TRUE(dialog.curves.stopped);
  EXPECT_FALSE(dialog.curves.series[0].points.empty());
}

TEST(CostDialog, ConfirmsBeforeReplacingFile) {
  const testing::TemporaryFolder folder;
  CostDialog dialog = small_dialog();
  start_cost_measurement(dialog);
  wait_for_task(dialog);
  for (const char* name : {"cost.csv", "cost.png", "cost.svg"}) {
    dialog.path = folder.path() / name;
    EXPECT_TRUE(save_cost(dialog, false).starts_with("Wrote ")) << dialog.problem;
    EXPECT_GT(std::filesystem::file_size(dialog.path), 100u);
    EXPECT_EQ(save_cost(dialog, true), "");
    EXPECT_EQ(dialog.overwrite_path, dialog.path);
    EXPECT_TRUE(save_cost(dialog, true).starts_with("Wrote "));
  }
  EXPECT_TRUE(read_file(folder.path() / "cost.csv").starts_with("variant,parameters,"));
  dialog.path = folder.path() / "cost.bmp";
  EXPECT_EQ(save_cost(dialog, false), "");
  EXPECT_NE(dialog.problem.find("bmp"), std::string::npos) << dialog.problem;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
