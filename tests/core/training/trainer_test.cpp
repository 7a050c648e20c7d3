#include "core/training/trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/checkpoint/model_store.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::TemporaryFolder;
using testing::tiny_plan;

TrainingPlan short_plan(const std::filesystem::path& folder) {
  TrainingPlan plan = tiny_plan(folder);
  plan.steps = 6;
  plan.model.dropout = 0.1;
  return plan;
}

void expect_same_weights(const Checkpoint& a, const Checkpoint& b) {
  ASSERT_EQ(a.model.weights.size(), b.model.weights.size());
  for (const auto& [name, weight] : a.model.weights) {
    EXPECT_TRUE(testing::close(b.model.weights.find(name)->second.value(), weight.value(), 0))
        << name;
  }
}

TEST(Trainer, StepsLikeTrain) {
  const TemporaryFolder folder;
  const TrainingPlan plan = short_plan(folder.path());
  train(plan, {});
  TrainingPlan separate_plan = plan;
  separate_plan.folder = folder.path() / "own";
  Trainer trainer(separate_plan);
  Index steps = 0;
  while (!trainer.is_done()) EXPECT_EQ(trainer.step().step, ++steps);
  EXPECT_EQ(steps, plan.steps);
  // Nothing is written before saving.
  EXPECT_FALSE(std::filesystem::exists(separate_plan.folder));
  expect_same_weights(*trainer.snapshot(), load_checkpoint(plan.folder.string()));
  trainer.save();
  expect_same_weights(*trainer.snapshot(), load_checkpoint(separate_plan.folder.string()));
}

TEST(Trainer, KeepsSnapshotsUnchanged) {
  const TemporaryFolder folder;
  Trainer trainer(short_plan(folder.path()));
  const auto first_snapshot = trainer.snapshot(), second_snapshot = trainer.snapshot();
  const Tensor first_weight = first_snapshot->model.weights.begin()->second.value().copy();
  EXPECT_NE(first_snapshot->tokenizer, nullptr);
  expect_same_weights(*first_snapshot, *second_snapshot);
  trainer.step();
  EXPECT_TRUE(
      testing::close(first_snapshot->model.weights.begin()->second.value(), first_weight, 0));
  const auto later_snapshot = trainer.snapshot();
  EXPECT_TRUE(
      testing::differs(later_snapshot->model.weights.begin()->second.value(), first_weight, 1e-6));
  // A snapshot can be used while the training continues.
  ModelStore models;
  models.publish("in training", later_snapshot);
  trainer.step();
  expect_same_weights(*models.checkpoint("in training"), *later_snapshot);
}

TEST(Trainer, IsUnchangedByInspection) {
  const TemporaryFolder folder;
  const TrainingPlan plan = short_plan(folder.path());
  Trainer inspected_trainer(plan), reference_trainer(plan);
  while (!inspected_trainer.is_done()) {
    const double loss = inspected_trainer.step().loss;
    EXPECT_EQ(loss, reference_trainer.step().loss);
    inspected_trainer.snapshot();
    EXPECT_FALSE(std::isnan(inspected_trainer.score(false).loss));
  }
  expect_same_weights(*inspected_trainer.snapshot(), *reference_trainer.snapshot());
}

TEST(Trainer, IsUnchangedByAnInterruptedStep) {
  const TemporaryFolder folder;
  const TrainingPlan plan = short_plan(folder.path());
  Trainer interrupted_trainer(plan), reference_trainer(plan);
  interrupted_trainer.step();
  {
    const Stop stop;
    stop.request();
    const StopScope scope(stop);
    EXPECT_THROW(interrupted_trainer.step(), Stopped);
  }
  EXPECT_EQ(interrupted_trainer.steps_done(), 1);
  EXPECT_EQ(interrupted_trainer.step().step, 2);
  reference_trainer.step();
  reference_trainer.step();
  expect_same_weights(*interrupted_trainer.snapshot(), *reference_trainer.snapshot());
}

TEST(Trainer, ContinuesFromSavedState) {
  const TemporaryFolder folder;
  TrainingPlan plan = short_plan(folder.path());
  Trainer uninterrupted(plan);
  while (!uninterrupted.is_done()) uninterrupted.step();
  {
    Trainer interrupted(plan);
    for (int n = 0; n < 4; ++n) interrupted.step();
    interrupted.save();
  }
  Trainer resumed(plan);
  EXPECT_EQ(resumed.steps_done(), 4);
  while (!resumed.is_done()) resumed.step();
  expect_same_weights(*resumed.snapshot(), *uninterrupted.snapshot());
  plan.steps = 0;
  plan.folder.clear();
  EXPECT_THROW(Trainer{plan}, InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
