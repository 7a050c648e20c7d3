// Rises of the loss, growth of weights, and the search for a learning rate.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/training/loss_rise.h"
#include "core/training/rate_search.h"
#include "core/training/trainer.h"
#include "core/training/weight_growth.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::TemporaryFolder;

std::vector<LossRow> rows_with(double loss, Index count) {
  std::vector<LossRow> rows(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    LossRow& row = rows[static_cast<std::size_t>(i)];
    row.step = i + 1;
    row.loss = loss + 0.01 * static_cast<double>(i % 2);
  }
  return rows;
}

TEST(LossRise, NeedsADistinctLoss) {
  EXPECT_TRUE(std::isnan(mean_before_rise(rows_with(2, 19), 10)));
  EXPECT_TRUE(std::isnan(mean_before_rise(rows_with(2, 30), 2.1)));
  EXPECT_NEAR(mean_before_rise(rows_with(2, 30), 2.6), 2.005, 1e-9);
}

TEST(LossRise, NamesTheBatchThatMadeIt) {
  const TemporaryFolder folder;
  TrainingPlan plan = testing::plan_of("induction", folder.path());
  plan.steps = 60;
  plan.warm_up = 0;
  Trainer trainer(plan);
  for (int n = 0; n < 30; ++n) trainer.step_at(1e-3);
  EXPECT_EQ(trainer.rise(), nullptr);
  trainer.step_at(5);  // spoils the model
  trainer.step_at(1e-3);
  ASSERT_NE(trainer.rise(), nullptr);
  const LossRise& rise = *trainer.rise();
  EXPECT_EQ(rise.step, 32);
  EXPECT_TRUE(rise.is_update);
  EXPECT_EQ(rise.batch_step, 31);
  ASSERT_EQ(static_cast<Index>(rise.sequences.size()), plan.batch);
  EXPECT_GE(rise.sequences[0].loss, rise.sequences[1].loss);
  EXPECT_EQ(static_cast<Index>(rise.sequences[0].text.size()), plan.model.context);
  const std::string text = describe(rise);
  EXPECT_TRUE(text.starts_with("step 32: loss ")) << text;
  EXPECT_NE(text.find("raised by the update with the batch of step 31: \""), std::string::npos)
      << text;
}

// The mask is an id that the tokenizer lacks.
TEST(LossRise, LeavesOutMasks) {
  const TemporaryFolder folder;
  Trainer trainer(testing::plan_of("masked", folder.path()));
  for (int n = 0; n < 30; ++n) trainer.step_at(1e-3);
  trainer.step_at(5);
  trainer.step_at(1e-3);
  ASSERT_NE(trainer.rise(), nullptr);
  EXPECT_FALSE(trainer.rise()->sequences[0].text.empty());
}

TEST(WeightGrowth, NamesTheFirstWeightToGrow) {
  NamedVars weights;
  weights.emplace("a", Var(Tensor::full({4}, 1)));
  weights.emplace("b", Var(Tensor::full({4}, 1)));
  WeightGrowth growth;
  growth.measure(weights, 0);
  weights["a"] = Var(Tensor::full({4}, 3));
  growth.measure(weights, 1);
  EXPECT_EQ(growth.first_grown(), "a, 3 times its first size at step 1");
  weights["b"] = Var(Tensor::full({4}, 12));
  growth.measure(weights, 2);
  weights["a"] = Var(Tensor::full({4}, 500));
  growth.measure(weights, 3);
  EXPECT_EQ(growth.first_grown(), "b, 12 times its first size at step 2");
}

TEST(RateSearch, FindsARateThatLearns) {
  const TemporaryFolder folder;
  const TrainingPlan plan = testing::plan_of("copy", folder.path());
  Index calls = 0;
  const RateSearch search =
      find_learning_rate(plan, {1e-5, 10, 60}, [&](const RateSearch&) { ++calls; });
  EXPECT_GT(search.steepest, 1e-4);
  EXPECT_LT(search.steepest, 1);
  EXPECT_GE(static_cast<Index>(search.points.size()), calls);
  EXPECT_NEAR(search.points.front().rate, 1e-5, 1e-12);
  EXPECT_FALSE(std::filesystem::exists(plan.folder));
  EXPECT_TRUE(to_csv(search).starts_with("rate,loss,smoothed\n1e-5,")) << to_csv(search);
}

TEST(Trainer, DivergenceNamesTheFirstWeight) {
  const TemporaryFolder folder;
  TrainingPlan plan = testing::plan_of("induction", folder.path());
  plan.clip = 0;
  Trainer trainer(plan);
  try {
    for (int n = 0; n < 200; ++n) trainer.step_at(1e8);
    FAIL() << "expected a divergence";
  } catch (const WorkError& e) {
    EXPECT_NE(std::string(e.what()).find("; the first weight to grow: "), std::string::npos)
        << e.what();
  }
}

TEST(Trainer, ControlsChangeTheRate) {
  const TemporaryFolder folder;
  TrainingPlan plan = testing::plan_of("brackets", folder.path());
  plan.warm_up = 0;
  const auto controls = std::make_shared<TrainingControls>();
  Trainer trainer(plan, controls);
  const double rate = trainer.step().learning_rate;
  controls->rate_factor = 0.25;
  const LossRow row = trainer.step();
  EXPECT_LT(row.learning_rate, 0.3 * rate);
  EXPECT_GT(row.gradient_norm, 0);
  ASSERT_EQ(row.gradients.size(), trainer.log().layers().size());
  double squares = 0;
  for (const double norm : row.gradients) squares += norm * norm;
  EXPECT_NEAR(std::sqrt(squares), row.gradient_norm, 1e-6 * row.gradient_norm);
  trainer.save();
  const auto resumed = std::make_shared<TrainingControls>();
  Trainer continued(plan, resumed);
  EXPECT_EQ(resumed->rate_factor, 0.25);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
