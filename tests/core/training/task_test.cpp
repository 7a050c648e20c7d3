#include "core/training/task.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/training/evaluate.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

using testing::TemporaryFolder;
using testing::tiny_plan;

TrainingPlan repeat_plan(const std::filesystem::path& folder) {
  TrainingPlan plan = tiny_plan(folder);
  plan.task = "repeat";
  plan.text.clear();
  plan.held_out_share = 0;
  return plan;
}

std::string refusal(const TrainingPlan& plan) {
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

TEST(Task, RefusesPlansThatDoNotSuit) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal(repeat_plan(folder.path())), "");
  TrainingPlan plan = repeat_plan(folder.path());
  plan.model.vocabulary = 300;
  EXPECT_NE(refusal(plan).find("300"), std::string::npos);
  plan = repeat_plan(folder.path());
  plan.held_out_share = 0.1;
  EXPECT_NE(refusal(plan).find("held_out"), std::string::npos);
  plan = repeat_plan(folder.path());
  plan.sequence = 7;
  EXPECT_NE(refusal(plan).find("at least 8"), std::string::npos);
  plan = tiny_plan(folder.path());
  plan.sequence = 0;
  plan.model.causal = false;
  EXPECT_NE(refusal(plan).find("model.causal: expected true"), std::string::npos) << refusal(plan);
  plan.model.causal = true;
  plan.task = "nonesuch";
  EXPECT_NE(refusal(plan).find("nonesuch"), std::string::npos);
}

TEST(TextTask, HoldsOutWhatThePlanSays) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  std::string text;  // the last tenth is of other letters
  for (int i = 0; i < 900; ++i) text += "ab"[i % 2];
  text += std::string(100, 'z');
  write_file(plan.text[0], text);
  const auto made = task("text").make(plan, {});
  IntTensor inputs, targets;
  made->batch(0, 100, inputs, targets);
  for (const std::int32_t id : inputs) EXPECT_NE(id, 'z');
  for (const std::int32_t id : targets) EXPECT_NE(id, 'z');
}

TEST(TextTask, ScoresTheHeldOutText) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  const auto made = task("text").make(plan, {});
  Checkpoint checkpoint;
  checkpoint.model = make_model(plan.model, 1);
  checkpoint.tokenizer = made->tokenizer();
  const Score score = made->score(checkpoint, true, {});
  const std::string text = read_file(plan.text[0]);
  EXPECT_NEAR(score.bits_per_byte,
              bits_per_byte(checkpoint, text.substr(text.size() - text.size() / 10), {}), 1e-9);
  EXPECT_NEAR(score.loss, std::log(256), 0.5);                    // fresh weights
  EXPECT_EQ(made->score(checkpoint, true, {}).loss, score.loss);  // the same batches again
  EXPECT_TRUE(std::isnan(score.accuracy));
  plan.held_out_share = 0;
  EXPECT_TRUE(std::isnan(task("text").make(plan, {})->score(checkpoint, true, {}).loss));
}

TEST(RepeatTask, TakesItsTokensFromText) {
  const TemporaryFolder folder;
  TrainingPlan plan = repeat_plan(folder.path());
  EXPECT_EQ(task("repeat").make(plan, {})->tokenizer()->vocabulary_size(), 256);
  plan.text = tiny_plan(folder.path()).text;
  plan.model.vocabulary = 260;
  const auto made = task("repeat").make(plan, {});
  EXPECT_EQ(made->tokenizer()->vocabulary_size(), 260);
  IntTensor inputs, targets;
  made->batch(0, 100, inputs, targets);
  EXPECT_GT(*std::max_element(inputs.begin(), inputs.end()), 255);
}

TEST(RepeatTask, IsTrainedLikeAnyOther) {
  const TemporaryFolder folder;
  TrainingPlan plan = repeat_plan(folder.path());
  plan.steps = 5;
  const TrainingResult result = train(plan, {}, {});
  EXPECT_NEAR(result.held_out.loss, std::log(256), 0.5);
  EXPECT_TRUE(result.held_out.accuracy >= 0 && result.held_out.accuracy < 0.2);
  EXPECT_TRUE(std::isnan(result.held_out.bits_per_byte));
}

}  // namespace
}  // namespace attnscope
