// Trainings of small tasks to a high accuracy.
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/training/expected_map.h"
#include "core/training/loss_log.h"
#include "core/training/task.h"
#include "core/training/train.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Preset of the task, with fewer steps than a whole training.
TrainingPlan small_plan(const std::string& task, Index steps, const std::filesystem::path& folder) {
  const auto file = testing::source_folder() / "assets" / "presets" / ("small-" + task + ".json");
  TrainingPlan plan =
      training_plan_from_json(parse_json(read_file(file), file.string()), file.string());
  plan.folder = folder / task;
  plan.steps = steps;
  if (steps < 100) plan.warm_up = 20;
  plan.evaluate_every = 0;
  return plan;
}

TEST(SmallTasks, AreLearned) {
  const testing::TemporaryFolder folder;
  TrainingPlan copy = small_plan("copy", 250, folder.path());
  copy.model.context = 4;
  copy.batch = 32;
  copy.warm_up = 20;
  const std::pair<TrainingPlan, double> trainings[] = {
      {small_plan("recall", 70, folder.path()), 0.9},
      {small_plan("associative", 200, folder.path()), 0.9},
      {copy, 0.8}};
  for (const auto& [plan, accuracy] : trainings) {
    SCOPED_TRACE(plan.task);
    const TrainingResult result = train(plan, {});
    EXPECT_GT(result.held_out.accuracy, accuracy);
    EXPECT_TRUE(
        result.expected.starts_with("Expected map: " + task(plan.task).expected->description))
        << result.expected;
  }
  // A head has learned to find the digit after the letter's previous occurrence.
  LossLog log(folder.path() / "associative");
  log.load_steps(200);
  EXPECT_GT(log.rows().back().expected.contrast(), kFoundContrast);
}

TEST(SmallTasks, HaveValidPresets) {
  const testing::TemporaryFolder folder;
  int count = 0;
  for (const TaskInfo& info : tasks()) {
    if (!file_exists(testing::source_folder() / "assets" / "presets" /
                     ("small-" + info.id + ".json"))) {
      continue;
    }
    ++count;
    TrainingPlan plan = small_plan(info.id, 10, folder.path());
    EXPECT_EQ(plan.task, info.id);
    if (!info.files.empty()) plan.text = {"any.txt"};
    EXPECT_NO_THROW(check(plan)) << info.id;
  }
  EXPECT_EQ(count, static_cast<int>(tasks().size()) - 1);  // repeat is like induction
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
