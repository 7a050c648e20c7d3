// Sequences of the recall and brackets tasks.
#include <gtest/gtest.h>

#include <string>

#include "core/base/error.h"
#include "core/training/task.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kSequences = 200;

Batch make_batch(const std::string& task_id) {
  const testing::TemporaryFolder folder;
  const TrainingPlan plan = testing::plan_of(task_id, folder.path());
  check(plan);
  return task(task_id).make(plan)->batch(0, kSequences);
}

// The target at each "?" is the letter that follows the last "!". Other positions have no target.
TEST(RecallTask, TargetsAreTheRememberedLetters) {
  const Batch batch = make_batch("recall");
  Index questions = 0, longest_delay = 0;
  for (Index b = 0; b < kSequences; ++b) {
    std::int32_t letter = -1;
    Index delay = 0;
    for (Index i = 0; i < batch.ids.dim(1); ++i, ++delay) {
      const std::int32_t token = batch.ids(b, i);
      if (i > 0 && batch.ids(b, i - 1) == '!') {
        letter = token;
        delay = 0;
      }
      if (token != '?') {
        EXPECT_EQ(batch.targets(b, i), -1);
        continue;
      }
      EXPECT_TRUE(letter >= 'a' && letter <= 'z');
      EXPECT_EQ(batch.targets(b, i), letter);
      longest_delay = std::max(longest_delay, delay);
      ++questions;
    }
  }
  EXPECT_GT(questions, kSequences);
  EXPECT_TRUE(longest_delay > batch.ids.dim(1) / 3) << longest_delay;
}

// Compares the targets with a stack of open brackets.
TEST(BracketsTask, TargetsAreTheClosingBrackets) {
  const Batch batch = make_batch("brackets");
  const std::string opening = "([{<", closing = ")]}>";
  std::size_t deepest = 0;
  for (Index b = 0; b < kSequences; ++b) {
    std::string open;
    for (Index i = 0; i < batch.ids.dim(1); ++i) {
      const auto token = static_cast<char>(batch.ids(b, i));
      if (opening.find(token) != std::string::npos) {
        open += token;
      } else {
        ASSERT_FALSE(open.empty());
        ASSERT_EQ(closing.find(token), opening.find(open.back()));
        open.pop_back();
      }
      deepest = std::max(deepest, open.size());
      const std::int32_t next = i + 1 < batch.ids.dim(1) ? batch.ids(b, i + 1) : -1;
      const bool closes = next >= 0 && closing.find(static_cast<char>(next)) != std::string::npos;
      if (next >= 0) {
        EXPECT_EQ(batch.targets(b, i), closes ? next : -1);
      }
      if (batch.targets(b, i) >= 0) {
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(batch.targets(b, i), closing[opening.find(open.back())]);
      }
    }
  }
  EXPECT_TRUE(deepest >= 6) << deepest;
}

TEST(DrawnTasks, RejectUnusedInput) {
  const testing::TemporaryFolder folder;
  for (const char* id : {"recall", "brackets"}) {
    const TrainingPlan valid_plan = testing::plan_of(id, folder.path());
    EXPECT_NO_THROW(check(valid_plan));
    TrainingPlan plan = valid_plan;
    plan.text = {folder.path() / "text.txt"};
    EXPECT_THROW(check(plan), InputError) << id;
    plan = valid_plan;
    plan.held_out_share = 0.1;
    EXPECT_THROW(check(plan), InputError) << id;
    plan = valid_plan;
    plan.model.vocabulary = 300;
    EXPECT_THROW(check(plan), InputError) << id;
    plan = valid_plan;
    plan.sequence = 4;
    EXPECT_THROW(check(plan), InputError) << id;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
