// Memory estimates for training, and rejection of trainings whose estimate exceeds the budget.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/model/memory_need.h"
#include "core/model/residual_connection.h"
#include "core/tensor/storage.h"
#include "core/training/trainer.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

class TrainingMemory : public ::testing::Test {
 protected:
  ~TrainingMemory() override { set_memory_budget(default_budget_); }

  // Expects that the estimate is between the peak memory of two steps and about `max_ratio` times
  // that peak.
  void expect_sufficient(const std::string& name, const TrainingPlan& plan, double max_ratio) {
    release_cached_storage();
    const auto initial_bytes = static_cast<double>(storage_statistics().live_bytes);
    reset_peak_storage();
    Trainer trainer(plan);
    trainer.step();
    trainer.step();
    const double peak = static_cast<double>(storage_statistics().peak_bytes) - initial_bytes;
    const ModelConfig config = trainer.snapshot()->model.config;
    const Index length = sequence_length(plan);
    const bool has_source = architecture(config.architecture.id).reads == Reads::SourceAndTarget;
    const double need = total_bytes(training_memory_need(
        config, {.length = {length, has_source ? length : 0},
                 .micro_batch = plan.micro_batch > 0 ? plan.micro_batch : plan.batch,
                 .batch = plan.batch}));
    EXPECT_GE(need, peak) << name;
    EXPECT_LE(need, max_ratio * peak + 1e5) << name;
  }

  TrainingPlan plan_of(const std::string& task, const std::string& folder) const {
    std::filesystem::create_directory(folder_.path() / folder);
    return testing::plan_of(task, folder_.path() / folder);
  }

  const testing::TemporaryFolder folder_;
  const std::size_t default_budget_ = memory_budget();
};

TEST_F(TrainingMemory, IsSufficientForEveryTask) {
  for (const TaskInfo& task : tasks()) {
    TrainingPlan plan = plan_of(task.id, task.id);
    plan.batch = 16;
    const double max_ratio = task.reads == Reads::SourceAndTarget
                                 ? 6
                                 : 2.5;  // most targets are shorter than the context
    expect_sufficient(task.id, plan, max_ratio);
    plan.micro_batch = 4;
    plan.folder = folder_.path() / (task.id + "-parts");
    expect_sufficient(task.id + " in parts", plan, max_ratio);
  }
}

TEST_F(TrainingMemory, IsSufficientForEveryVariant) {
  for (const Variant& v : variants()) {
    if (!v.causality.refusal.empty()) continue;
    TrainingPlan plan = plan_of("text", v.id);
    plan.model.context = 64;
    Choice choice{v.id, illustrative_values(v.parameters, plan.model.context)};
    for (const Index features : {0, 256}) {
      if (features > 0) {
        if (!choice.values.has("features")) continue;
        choice.values.set("features", features);
        plan.folder = folder_.path() / (v.id + "-256");
      }
      plan.model.groups = uniform_groups(plan.model, choice, default_encoding());
      expect_sufficient(v.id + " " + std::to_string(features), plan, 3);
    }
  }
}

// The backward pass recomputes activations, so that only those of one layer are in memory at a
// time.
TEST_F(TrainingMemory, IsSufficientForReversibleLayers) {
  TrainingPlan plan = plan_of("text", "model");
  plan.batch = 16;
  plan.model.layers = 8;
  plan.model.groups = uniform_groups(plan.model, default_variant(), default_encoding());
  plan.model.residual_connection = {"reversible",
                                    default_values(residual_connection("reversible").parameters)};
  expect_sufficient("reversible", plan, 3);
}

std::string memory_error(const TrainingPlan& plan) {
  try {
    Trainer trainer(plan);
    return "fits";
  } catch (const InputError& e) {
    return e.what();
  }
}

// Plans beyond the budget are rejected before allocation. Errors suggest a setting that fits.
TEST_F(TrainingMemory, RejectsPlansBeyondTheBudget) {
  TrainingPlan plan = plan_of("text", "model");
  plan.batch = 60;
  const ModelConfig config = Trainer(plan).snapshot()->model.config;
  const auto need = [&](Index micro_batch) {
    return static_cast<std::size_t>(total_bytes(training_memory_need(
        config,
        {.length = {sequence_length(plan), 0}, .micro_batch = micro_batch, .batch = plan.batch})));
  };
  set_memory_budget(need(60) + 1);
  EXPECT_EQ(memory_error(plan), "fits");
  set_memory_budget(need(60) - 1);
  std::string message = memory_error(plan);
  EXPECT_TRUE(message.starts_with("memory: activations for backpropagation: ")) << message;
  EXPECT_NE(message.find(" for 60 sequences of 32 tokens; the budget is "), std::string::npos)
      << message;
  EXPECT_TRUE(message.ends_with("expected at most 30 sequences at a time")) << message;
  set_memory_budget(need(12));  // errors suggest a divisor of the batch
  EXPECT_TRUE(memory_error(plan).ends_with("at most 12 sequences at a time"));
  plan.micro_batch = 12;
  EXPECT_EQ(memory_error(plan), "fits");
  plan.micro_batch = 0;
  set_memory_budget(need(12) - 1);
  EXPECT_TRUE(memory_error(plan).ends_with("at most 10 sequences at a time"));
  set_memory_budget(need(1) - 1);
  message = memory_error(plan);
  EXPECT_TRUE(message.ends_with("expected a smaller model, shorter sequences or a larger budget"))
      << message;
  EXPECT_FALSE(std::filesystem::exists(plan.folder));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
