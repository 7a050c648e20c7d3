#include "core/training/task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/stop.h"
#include "core/base/strict_json.h"
#include "core/model/exits.h"
#include "core/model/residual_connection.h"
#include "core/training/evaluate.h"
#include "core/training/returns.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::TemporaryFolder;
using testing::tiny_plan;

TrainingPlan repeat_plan(const std::filesystem::path& folder) {
  TrainingPlan plan = tiny_plan(folder);
  plan.task = "repeat";
  plan.text.clear();
  plan.held_out_share = 0;
  return plan;
}

std::string plan_error(const TrainingPlan& plan) {
  try {
    check(plan);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Task, ListHasIdsAndSummaries) {
  std::set<std::string> ids;
  for (const TaskInfo& info : tasks()) {
    EXPECT_TRUE(ids.insert(info.id).second) << info.id;
    EXPECT_FALSE(info.summary.empty());
    EXPECT_EQ(task(info.id).summary, info.summary);
  }
  EXPECT_EQ(tasks().front().id, TrainingPlan{}.task);
  EXPECT_THROW(task("nonesuch"), InputError);
}

TEST(Task, RejectsInvalidPlans) {
  const TemporaryFolder folder;
  EXPECT_EQ(plan_error(repeat_plan(folder.path())), "");
  TrainingPlan plan = repeat_plan(folder.path());
  plan.model.vocabulary = 300;
  EXPECT_NE(plan_error(plan).find("300"), std::string::npos);
  plan = repeat_plan(folder.path());
  plan.held_out_share = 0.1;
  EXPECT_NE(plan_error(plan).find("held_out"), std::string::npos);
  plan = repeat_plan(folder.path());
  plan.sequence = 7;
  EXPECT_NE(plan_error(plan).find("at least 8"), std::string::npos);
  plan = tiny_plan(folder.path());
  plan.sequence = 0;
  plan.model.causal = false;
  EXPECT_NE(plan_error(plan).find("model.causal: expected true"), std::string::npos)
      << plan_error(plan);
  plan.model.causal = true;
  plan.task = "nonesuch";
  EXPECT_NE(plan_error(plan).find("nonesuch"), std::string::npos);
}

// Combines every model with every task. Errors name the incompatible setting.
TEST(Task, RejectsIncompatibleModels) {
  const TemporaryFolder folder;
  int compatible_count = 0;
  for (const TaskInfo& model_task : tasks()) {
    const TrainingPlan valid_plan = testing::plan_of(model_task.id, folder.path());
    EXPECT_EQ(plan_error(valid_plan), "") << model_task.id;
    for (const TaskInfo& info : tasks()) {
      TrainingPlan plan = testing::plan_of(info.id, folder.path());
      plan.model = valid_plan.model;
      const bool is_compatible = model_task.reads == info.reads && model_task.input == info.input &&
                                 model_task.masks_tokens == info.masks_tokens &&
                                 model_task.has_continuous_actions == info.has_continuous_actions;
      if (is_compatible) ++compatible_count;
      const std::string message = plan_error(plan);
      EXPECT_EQ(message.empty(), is_compatible)
          << model_task.id << " for " << info.id << ": " << message;
      EXPECT_TRUE(is_compatible || message.starts_with("model.")) << message;
    }
  }
  // The seven tasks on one sequence of bytes are compatible with one another's models, and so are
  // numbers, copy, reverse and sort.
  EXPECT_EQ(compatible_count, static_cast<int>(tasks().size()) + 7 * 6 + 4 * 3);
  // Without a causal mask, a model sees the next token, which is its target.
  for (const char* task : {"text", "repeat", "numbers"}) {
    TrainingPlan non_causal_plan = testing::plan_of(task, folder.path());
    non_causal_plan.model.causal = false;
    EXPECT_NE(
        plan_error(non_causal_plan).find("attends to the tokens that it is trained to predict"),
        std::string::npos)
        << task;
  }
  TrainingPlan masked_plan = testing::plan_of("masked", folder.path());
  masked_plan.model.architecture.values.set("mask", Index{3});
  EXPECT_NE(plan_error(masked_plan).find("mask: expected the last id, 256"), std::string::npos);
  TrainingPlan numbers_plan = testing::plan_of("numbers", folder.path());
  numbers_plan.model.context = 6;
  EXPECT_NE(plan_error(numbers_plan).find("at least 7 tokens"), std::string::npos)
      << plan_error(numbers_plan);
  numbers_plan.text = {"a.txt"};
  EXPECT_NE(plan_error(numbers_plan).find("generates its pairs"), std::string::npos);
  TrainingPlan image_plan = testing::plan_of("image", folder.path());
  image_plan.sequence = 4;
  EXPECT_NE(plan_error(image_plan).find("sequence: expected 0"), std::string::npos);
  image_plan.text.clear();
  image_plan.sequence = 0;
  EXPECT_NE(plan_error(image_plan).find("expected images"), std::string::npos);
}

// The second half of a batch equals the same sequences in a batch of half the size.
TEST(Task, YieldsSameSequencesInMicroBatches) {
  const TemporaryFolder folder;
  for (const TaskInfo& info : tasks()) {
    SCOPED_TRACE(info.id);
    TrainingPlan plan = testing::plan_of(info.id, folder.path());
    const auto instance = info.make(plan);
    const Batch batch = instance->batch(16, 8);
    instance->batch(40, 8);
    const Batch half_batch = instance->batch(20, 4);
    const auto expect_second_half = [&](const IntTensor& all, const IntTensor& half) {
      ASSERT_EQ(all.defined(), half.defined());
      if (!all.defined() || all.shape()[1] != half.shape()[1])
        return;  // padded to different lengths
      EXPECT_TRUE(std::equal(half.begin(), half.end(), all.begin() + all.size() / 2));
    };
    expect_second_half(batch.ids, half_batch.ids);
    expect_second_half(batch.source, half_batch.source);
    expect_second_half(batch.targets, half_batch.targets);
    expect_second_half(batch.actions, half_batch.actions);
    EXPECT_GT(std::ranges::count_if(batch.targets, [](std::int32_t t) { return t >= 0; }), 0);
    plan.seed = 77;
    const Batch other_seed_batch = info.make(plan)->batch(16, 8);
    if (info.has_continuous_actions) {
      const Tensor &all = batch.moves, &half = half_batch.moves, &other = other_seed_batch.moves;
      EXPECT_TRUE(std::equal(half.begin(), half.end(), all.begin() + all.size() / 2));
      EXPECT_FALSE(std::equal(all.begin(), all.end(), other.begin()));
      continue;
    }
    const IntTensor& a = batch.actions.defined() ? batch.actions : batch.ids;
    const IntTensor& b =
        other_seed_batch.actions.defined() ? other_seed_batch.actions : other_seed_batch.ids;
    EXPECT_FALSE(a.shape() == b.shape() && std::equal(a.begin(), a.end(), b.begin()));
  }
}

// The plans of all tasks, and the plan of the recurrent model.
std::vector<TrainingPlan> all_plans(const std::filesystem::path& folder) {
  std::vector<TrainingPlan> plans;
  for (const TaskInfo& info : tasks()) plans.push_back(testing::plan_of(info.id, folder));
  plans.push_back(testing::recurrent_plan(folder));
  return plans;
}

TEST(Task, ResumesTrainingExactly) {
  const TemporaryFolder folder;
  for (TrainingPlan plan : all_plans(folder.path())) {
    SCOPED_TRACE(plan.task + " " + plan.model.architecture.id);
    plan.micro_batch = 4;
    plan.folder = folder.path() / ("whole-" + plan.task + plan.model.architecture.id);
    const TrainingResult uninterrupted = train(plan, {});
    EXPECT_TRUE(std::isfinite(uninterrupted.loss) && uninterrupted.loss > 0);
    EXPECT_TRUE(std::isfinite(uninterrupted.held_out.loss) && uninterrupted.held_out.loss > 0);
    plan.folder = folder.path() / ("parts-" + plan.task + plan.model.architecture.id);
    {
      const Stop stop;
      const StopScope scope(stop);
      EXPECT_THROW(train(plan,
                         [&](const TrainingProgress& p) {
                           if (p.step == 3) stop.request();
                         }),
                   Stopped);
    }
    const TrainingResult resumed = train(plan, {});
    EXPECT_EQ(resumed.loss, uninterrupted.loss);
    EXPECT_EQ(resumed.held_out.loss, uninterrupted.held_out.loss);
    // The saved model can be loaded and has the final score.
    const Checkpoint saved = load_checkpoint(plan.folder.string());
    const TaskInfo& info = task(plan.task);
    EXPECT_EQ(saved.tokenizer == nullptr,
              plan.task == "image" || info.reads == Reads::Trajectories);
    const Score score = info.make(plan)->score(saved, true);
    EXPECT_NEAR(score.loss, uninterrupted.held_out.loss, 1e-6);
  }
}

// Changes of the structure of a config, each with its name.
std::vector<std::pair<std::string, std::function<void(ModelConfig&)>>> structural_choices() {
  const auto values = [](const Info& info) { return default_values(info.parameters); };
  const auto select_variant = [values](const char* id) {
    return [id, values](ModelConfig& c) {
      c.groups = uniform_groups(c, {id, values(variant(id))}, default_encoding());
    };
  };
  return {{"universal",
           [values](ModelConfig& c) {
             c.architecture = {"universal", values(architecture("universal"))};
             c.architecture.values.set("steps", Index{2});
             c.architecture.values.set("halting", std::string("act"));
           }},
          {"gru",
           [values](ModelConfig& c) {
             c.residual_connection = {"gru", values(residual_connection("gru"))};
           }},
          {"reversible",
           [values](ModelConfig& c) {
             c.residual_connection = {"reversible", values(residual_connection("reversible"))};
           }},
          {"exits",
           [values](ModelConfig& c) {
             c.exits = Choice{"geometric", values(exit_rule("geometric"))};
           }},
          {"mixed exits",
           [values](ModelConfig& c) {
             c.exits = Choice{"multinomial", values(exit_rule("multinomial"))};
             c.exits->values.set("training", std::string("mixed"));
           }},
          {"segments",
           [select_variant](ModelConfig& c) {
             c.segment = 8;
             select_variant("compressive")(c);
           }},
          {"auxiliary", [](ModelConfig& c) { c.auxiliary = {.layers = true, .future = 2}; }},
          {"centroids", select_variant("routing")}};
}

TEST(TextTask, TrainsEveryStructuralChoice) {
  const TemporaryFolder folder;
  for (const auto& [name, set_choice] : structural_choices()) {
    SCOPED_TRACE(name);
    TrainingPlan plan = testing::plan_of("text", folder.path());
    set_choice(plan.model);
    plan.steps = 3;
    plan.model.dropout = 0.1;
    plan.folder = folder.path() / ("whole " + name);
    const TrainingResult uninterrupted = train(plan, {});
    EXPECT_TRUE(std::isfinite(uninterrupted.loss) &&
                std::isfinite(uninterrupted.held_out.bits_per_byte));
    plan.folder = folder.path() / ("parts " + name);
    {
      const Stop stop;
      const StopScope scope(stop);
      EXPECT_THROW(train(plan,
                         [&](const TrainingProgress& p) {
                           if (p.step == 2) stop.request();
                         }),
                   Stopped);
    }
    const TrainingResult resumed = train(plan, {});
    EXPECT_EQ(resumed.loss, uninterrupted.loss);
    EXPECT_EQ(resumed.held_out.bits_per_byte, uninterrupted.held_out.bits_per_byte);
  }
}

TEST(Task, ReducesItsLoss) {
  const TemporaryFolder folder;
  const auto loss_after = [&](TrainingPlan plan, Index steps) {
    plan.steps = steps;
    plan.folder = folder.path() / (plan.task + plan.model.architecture.id + std::to_string(steps));
    return train(plan, {}).held_out.loss;
  };
  for (const TrainingPlan& plan : all_plans(folder.path())) {
    if (plan.task == "repeat" || plan.task == "text") continue;  // tested in train_test.cpp
    if (plan.task == "trajectory")
      continue;  // random actions are hardly predictable; see LearnsShortestPathsFromRandomWalks
    const double first_loss = loss_after(plan, 1), later_loss = loss_after(plan, 40);
    EXPECT_LT(later_loss, 0.8 * first_loss) << plan.task << " " << plan.model.architecture.id;
  }
}

// For the highest desired return, the model finds shorter paths than its training walks.
TEST(TrajectoryTask, LearnsShortestPathsFromRandomWalks) {
  const TemporaryFolder folder;
  const auto preset = testing::source_folder() / "assets" / "presets" / "trajectory.json";
  TrainingPlan plan = training_plan_from_json(parse_json(read_file(preset), "preset"), "preset");
  plan.folder = folder.path() / "walks";
  plan.steps = 300;
  plan.evaluate_every = 0;
  const TrainingResult result = train(plan, {});
  EXPECT_LT(result.held_out.loss, std::log(4));
  // The accuracy is the fraction of start cells with a shortest path, below 0.2 by chance.
  EXPECT_GT(result.held_out.accuracy, 0.5);
}

// Requested returns set the pace, which behaviour cloning of the same walks cannot follow.
TEST(SteeringTask, LearnsToAchieveRequestedReturns) {
  const TemporaryFolder folder;
  const auto preset = testing::source_folder() / "assets" / "presets" / "steering.json";
  std::map<bool, ReturnCurve> curves;
  for (const bool sees_returns : {true, false}) {
    TrainingPlan plan = training_plan_from_json(parse_json(read_file(preset), "preset"), "preset");
    plan.model.architecture.values.set("returns", sees_returns);
    plan.folder = folder.path() / (sees_returns ? "steering" : "cloned");
    plan.steps = 400;
    plan.evaluate_every = 0;
    const TrainingResult result = train(plan, {});
    EXPECT_LT(result.held_out.loss, 0.035);  // the noise of the actions alone: 0.014
    curves[sees_returns] = achieved_returns(load_checkpoint(plan.folder.string()), 0);
  }
  EXPECT_TRUE(std::isnan(curves[true].achieved[0]));  // no start is a step from the goal
  for (const Index requested : {6, 8, 10}) {
    const auto n = static_cast<std::size_t>(requested - 1);
    const double wanted = -0.1 * static_cast<double>(requested);
    EXPECT_TRUE(std::abs(curves[true].achieved[n] - wanted) <= 0.12) << curves[true].achieved[n];
    EXPECT_EQ(curves[false].achieved[n], curves[false].achieved[7]);
  }
}

TEST(TextTask, HoldsOutEndOfText) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  std::string text;  // the last tenth has other letters
  for (int i = 0; i < 900; ++i) text += "ab"[i % 2];
  text += std::string(100, 'z');
  write_file(plan.text[0], text);
  const auto instance = task("text").make(plan);
  const Batch batch = instance->batch(0, 100);
  for (const std::int32_t id : batch.ids) EXPECT_NE(id, 'z');
  for (const std::int32_t id : batch.targets) EXPECT_NE(id, 'z');
}

TEST(TextTask, ScoresHeldOutText) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  const auto instance = task("text").make(plan);
  Checkpoint checkpoint;
  checkpoint.model = make_model(plan.model, 1);
  checkpoint.tokenizer = instance->tokenizer();
  const Score score = instance->score(checkpoint, true);
  const std::string text = read_file(plan.text[0]);
  EXPECT_NEAR(score.bits_per_byte,
              bits_per_byte(checkpoint, text.substr(text.size() - text.size() / 10)), 1e-9);
  EXPECT_NEAR(score.loss, std::log(256), 0.5);                    // untrained weights
  EXPECT_EQ(instance->score(checkpoint, true).loss, score.loss);  // equal batches
  EXPECT_TRUE(std::isnan(score.accuracy));
  plan.held_out_share = 0;
  EXPECT_TRUE(std::isnan(task("text").make(plan)->score(checkpoint, true).loss));
}

TEST(RepeatTask, LearnsItsTokensFromText) {
  const TemporaryFolder folder;
  TrainingPlan plan = repeat_plan(folder.path());
  EXPECT_EQ(task("repeat").make(plan)->tokenizer()->vocabulary_size(), 256);
  plan.text = tiny_plan(folder.path()).text;
  plan.model.vocabulary = 260;
  const auto instance = task("repeat").make(plan);
  EXPECT_EQ(instance->tokenizer()->vocabulary_size(), 260);
  const Batch batch = instance->batch(0, 100);
  EXPECT_GT(*std::max_element(batch.ids.begin(), batch.ids.end()), 255);
}

TEST(RepeatTask, TrainsLikeOtherTasks) {
  const TemporaryFolder folder;
  TrainingPlan plan = repeat_plan(folder.path());
  plan.steps = 5;
  const TrainingResult result = train(plan, {});
  EXPECT_NEAR(result.held_out.loss, std::log(256), 0.5);
  EXPECT_TRUE(result.held_out.accuracy >= 0 && result.held_out.accuracy < 0.2);
  EXPECT_TRUE(std::isnan(result.held_out.bits_per_byte));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
