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

void expect_same(const Checkpoint& a, const Checkpoint& b) {
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
  while (!trainer.done()) EXPECT_EQ(trainer.step().step, ++steps);
  EXPECT_EQ(steps, plan.steps);
  // Nothing is written before saving.
  EXPECT_FALSE(std::filesystem::exists(separate_plan.folder));
  expect_same(*trainer.snapshot(), load_checkpoint(plan.folder.string()));
  trainer.save();
  expect_same(*trainer.snapshot(), load_checkpoint(separate_plan.folder.string()));
}

TEST(Trainer, KeepsSnapshotsUnchanged) {
  const TemporaryFolder folder;
  Trainer trainer(short_plan(folder.path()));
  const auto before = trainer.snapshot(), same = trainer.snapshot();
  const Tensor kept = before->model.weights.begin()->second.value().copy();
  EXPECT_NE(before->tokenizer, nullptr);
  expect_same(*before, *same);
  trainer.step();
  EXPECT_TRUE(testing::close(before->model.weights.begin()->second.value(), kept, 0));
  const auto after = trainer.snapshot();
  EXPECT_TRUE(testing::differs(after->model.weights.begin()->second.value(), kept, 1e-6));
  // A snapshot can be used while the training continues.
  ModelStore models;
  models.publish("in training", after);
  trainer.step();
  expect_same(*models.checkpoint("in training"), *after);
}

TEST(Trainer, IsUnchangedByInspection) {
  const TemporaryFolder folder;
  const TrainingPlan plan = short_plan(folder.path());
  Trainer inspected(plan), undisturbed(plan);
  while (!inspected.done()) {
    const double loss = inspected.step().loss;
    EXPECT_EQ(loss, undisturbed.step().loss);
    inspected.snapshot();
    EXPECT_FALSE(std::isnan(inspected.score(false).loss));
  }
  expect_same(*inspected.snapshot(), *undisturbed.snapshot());
}

TEST(Trainer, IsUnchangedByAnInterruptedStep) {
  const TemporaryFolder folder;
  const TrainingPlan plan = short_plan(folder.path());
  Trainer stopped(plan), other(plan);
  stopped.step();
  {
    const Stop stop;
    stop.request();
    const StopScope scope(stop);
    EXPECT_THROW(stopped.step(), Stopped);
  }
  EXPECT_EQ(stopped.steps_done(), 1);
  EXPECT_EQ(stopped.step().step, 2);
  other.step();
  other.step();
  expect_same(*stopped.snapshot(), *other.snapshot());
}

TEST(Trainer, ContinuesFromSavedState) {
  const TemporaryFolder folder;
  TrainingPlan plan = short_plan(folder.path());
  Trainer whole(plan);
  while (!whole.done()) whole.step();
  {
    Trainer first(plan);
    for (int n = 0; n < 4; ++n) first.step();
    first.save();
  }
  Trainer second(plan);
  EXPECT_EQ(second.steps_done(), 4);
  while (!second.done()) second.step();
  expect_same(*second.snapshot(), *whole.snapshot());
  plan.steps = 0;
  plan.folder.clear();
  EXPECT_THROW(Trainer{plan}, InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
