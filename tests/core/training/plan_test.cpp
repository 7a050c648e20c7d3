#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/home.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/training/task.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(TrainingPlan, RoundTripsThroughJson) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = testing::tiny_plan(folder.path());
  plan.held_out = {"a.txt", "b.txt"};
  plan.micro_batch = 2;
  plan.sequence = 16;
  plan.seed = 99;
  plan.task = "repeat";
  plan.score_batches = 7;
  EXPECT_EQ(training_plan_from_json(to_json(plan), "plan"), plan);
}

TEST(TrainingPlan, RejectsUnknownAndInvalidMembers) {
  const testing::TemporaryFolder folder;
  const Json valid_json = to_json(testing::tiny_plan(folder.path()));
  const auto expect_refusal = [&](const std::string& key, const Json& value) {
    Json plan = valid_json;
    plan[key] = value;
    EXPECT_THROW(training_plan_from_json(plan, "plan"), InputError) << key;
  };
  expect_refusal("stepz", 3);
  expect_refusal("steps", 0);
  expect_refusal("rate", -1);
  expect_refusal("rate", "fast");
  expect_refusal("text", "a.txt");
  expect_refusal("held_out_share", 1.0);
  expect_refusal("seed", -1);
}

TEST(TrainingPlan, RejectsInconsistentValues) {
  const testing::TemporaryFolder folder;
  const TrainingPlan valid_plan = testing::tiny_plan(folder.path());
  check(valid_plan);
  TrainingPlan plan = valid_plan;
  plan.micro_batch = 3;
  EXPECT_THROW(check(plan), InputError);
  plan = valid_plan;
  plan.sequence = 33;
  EXPECT_THROW(check(plan), InputError);
  plan = valid_plan;
  plan.text.clear();
  EXPECT_THROW(check(plan), InputError);
  plan = valid_plan;
  plan.min_learning_rate = 1;
  EXPECT_THROW(check(plan), InputError);
}

TEST(TrainingPlan, AcceptsAllPresets) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::source_folder() / "assets" / "presets")) {
    const std::string name = entry.path().string();
    TrainingPlan plan = training_plan_from_json(parse_json(read_file(name), name), name);
    if (!task(plan.task).files.empty() || plan.model.vocabulary > 257) plan.text = {"a.txt"};
    plan.folder = "a";
    EXPECT_NO_THROW(check(plan)) << name;
    ++count;
  }
  EXPECT_GT(count, 0);
}

// Limits are inclusive.
TEST(TrainingPlan, AcceptsValuesAtTheLimits) {
  const testing::TemporaryFolder folder;
  const auto is_valid = [](const TrainingPlan& plan) {
    try {
      check(plan);
    } catch (const InputError&) {
      return false;
    }
    return true;
  };
  TrainingPlan plan = testing::tiny_plan(folder.path());
  plan.sequence = plan.model.context;
  EXPECT_TRUE(is_valid(plan));
  EXPECT_EQ(sequence_length(plan), plan.model.context);
  plan.sequence = 1;
  EXPECT_EQ(sequence_length(plan), 1);
  plan.min_learning_rate = plan.learning_rate;
  EXPECT_TRUE(is_valid(plan));
  plan.min_learning_rate = plan.learning_rate + 1e-9;
  EXPECT_FALSE(is_valid(plan));
  plan.min_learning_rate = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(is_valid(plan));
  plan.min_learning_rate = 0;
  plan.micro_batch = plan.batch;
  EXPECT_TRUE(is_valid(plan));
  plan.micro_batch = 1;
  EXPECT_TRUE(is_valid(plan));
  plan.folder = folder.path();  // an existing folder
  EXPECT_TRUE(is_valid(plan));
  plan.folder = plan.text[0];  // a file
  EXPECT_FALSE(is_valid(plan));
  // Minimum sequence lengths of generated tasks.
  for (const auto& [id, min_length] :
       {std::pair<const char*, Index>{"recall", 16}, {"brackets", 8}, {"repeat", 8}}) {
    TrainingPlan drawn_plan = testing::plan_of(id, folder.path());
    drawn_plan.sequence = min_length;
    EXPECT_TRUE(is_valid(drawn_plan)) << id;
    EXPECT_EQ(task(id).make(drawn_plan)->batch(0, 1).ids.dim(1), min_length);
    drawn_plan.sequence = min_length - 1;
    EXPECT_FALSE(is_valid(drawn_plan)) << id;
  }
  for (const char* id : {"numbers", "trajectory"}) {
    TrainingPlan generated_plan = testing::plan_of(id, folder.path());
    EXPECT_TRUE(is_valid(generated_plan)) << id;
    generated_plan.held_out_share = 0.1;
    EXPECT_FALSE(is_valid(generated_plan)) << id;
  }
  TrainingPlan trajectory_plan = testing::plan_of("trajectory", folder.path());
  trajectory_plan.model.context = 24;  // eight steps of three tokens
  EXPECT_TRUE(is_valid(trajectory_plan));
  trajectory_plan.model.context = 23;
  EXPECT_FALSE(is_valid(trajectory_plan));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
