#include "core/training/stages.h"

#include <gtest/gtest.h>

#include <map>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/training/trainer.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// A plan of 6 steps with windows of 3 and 12 tokens in its two layers.
TrainingPlan windowed_plan(const std::filesystem::path& folder) {
  TrainingPlan plan = testing::tiny_plan(folder);
  plan.steps = 6;
  Index window = 3;
  for (std::vector<HeadGroup>& layer : plan.model.groups) {
    for (HeadGroup& group : layer) {
      group.variant = {"local", {}};
      group.variant.values.set("window", window);
      group.variant.values.set("dilation", Index{1});
    }
    window = 12;
  }
  return plan;
}

Index window_of(const TrainingPlan& plan, std::size_t layer) {
  return plan.model.groups[layer].front().variant.values.integer("window");
}

// Logged loss of each step.
std::vector<double> losses(const TrainingPlan& plan) {
  Trainer trainer(plan);
  std::vector<double> result;
  while (!trainer.is_done()) result.push_back(trainer.step().loss);
  return result;
}

TEST(Stages, LimitWindowsAndSequences) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = windowed_plan(folder.path());
  plan.stages = stages_from_text("steps=2,sequence=16,window=4; steps=4,rate=0.5", "--stage");
  EXPECT_NO_THROW(check(plan));
  EXPECT_EQ(training_plan_from_json(to_json(plan), "plan"), plan);
  EXPECT_EQ(stage_at(plan, 0), 0u);
  EXPECT_EQ(stage_at(plan, 1), 0u);
  EXPECT_EQ(stage_at(plan, 2), 1u);
  EXPECT_EQ(stage_at(plan, 6), 1u);
  const TrainingPlan first = stage_plan(plan, plan.stages[0]);
  EXPECT_EQ(sequence_length(first), 16);
  EXPECT_EQ(window_of(first, 0), 3);
  EXPECT_EQ(window_of(first, 1), 4);
  const TrainingPlan second = stage_plan(plan, plan.stages[1]);
  EXPECT_EQ(sequence_length(second), sequence_length(plan));
  EXPECT_EQ(window_of(second, 1), 12);
}

// The first stage trains like a plan with its window and length; the next one does not.
TEST(Stages, TrainLikePlansOfTheirSettings) {
  const testing::TemporaryFolder folder;
  const TrainingPlan whole = windowed_plan(folder.path());
  TrainingPlan staged = whole;
  staged.stages = {{.steps = 3, .sequence = {16}, .window = 4}, {.steps = 3}};
  TrainingPlan small = stage_plan(staged, staged.stages[0]);
  const std::vector<double> expected = losses(small), found = losses(staged);
  ASSERT_EQ(found.size(), 6u);
  for (std::size_t step = 0; step < 3; ++step) EXPECT_EQ(found[step], expected[step]) << step;
  EXPECT_NE(found[3], expected[3]);
  // The model keeps its own windows.
  Trainer trainer(staged);
  trainer.step();
  EXPECT_EQ(trainer.snapshot()->model.config.groups, whole.model.groups);
}

TEST(Stages, ResumeExactly) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = windowed_plan(folder.path());
  plan.stages = {{.steps = 2, .sequence = {16}}, {.steps = 4, .rate = 0.5}};
  const std::vector<double> expected = losses(plan);
  {
    Trainer trainer(plan);
    for (int step = 0; step < 3; ++step) trainer.step();
    trainer.save();
  }
  Trainer resumed(plan);
  EXPECT_EQ(resumed.step().loss, expected[3]);
  EXPECT_EQ(resumed.step().loss, expected[4]);
}

// Each step trains on the sequences that it draws, in the same way as a stage of that length.
TEST(Stages, MixLengths) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = windowed_plan(folder.path());
  plan.stages = stages_from_text("steps=6, sequence=8/16/24", "--stage");
  EXPECT_NO_THROW(check(plan));
  EXPECT_EQ(training_plan_from_json(to_json(plan), "plan"), plan);
  EXPECT_EQ(sequence_length(stage_plan(plan, plan.stages[0])), 24);
  std::map<Index, int> counts;
  for (Index step = 0; step < 300; ++step) ++counts[sequence_at(plan, step)];
  EXPECT_EQ(counts.size(), 3u);
  for (const auto& [length, count] : counts) EXPECT_GT(count, 70) << length;
  TrainingPlan first = plan;
  first.stages = {{.steps = 6, .sequence = {sequence_at(plan, 0)}}};
  EXPECT_EQ(losses(plan)[0], losses(first)[0]);
}

TEST(Stages, RejectInconsistentValues) {
  const testing::TemporaryFolder folder;
  const TrainingPlan valid = windowed_plan(folder.path());
  const auto refuse = [&](std::vector<TrainingStage> stages, const std::string& message) {
    TrainingPlan plan = valid;
    plan.stages = std::move(stages);
    try {
      check(plan);
      ADD_FAILURE() << message;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
    }
  };
  refuse({{.steps = 2}, {.steps = 3}}, "stages: expected 6 steps in all");
  refuse({{.steps = 6, .sequence = {1000}}}, "stages: stage 1: sequence: expected at most");
  refuse({{.steps = 6, .sequence = {8, 1000}}}, "stages: stage 1: sequence: expected at most");
  for (const char* text :
       {"steps", "steps=x", "window=3", "steps=2,width=3", "steps=0", "steps=2,sequence=8/x",
        "steps=2,sequence=8/", "steps=2/3", "steps=2,sequence=0/8"}) {
    EXPECT_THROW(stages_from_text(text, "--stage"), InputError) << text;
  }
  EXPECT_TRUE(stages_from_text("", "--stage").empty());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
