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

Batch some_of(const std::string& task_id) {
  const testing::TemporaryFolder folder;
  const TrainingPlan plan = testing::plan_of(task_id, folder.path());
  check(plan);
  return task(task_id).make(plan)->batch(0, kSequences);
}

// Targets are the positions after "?"; the target is the letter after the last "!".
TEST(RecallTask, TargetsAreTheRememberedLetters) {
  const Batch batch = some_of("recall");
  Index asked = 0, longest = 0;
  for (Index b = 0; b < kSequences; ++b) {
    std::int32_t said = -1;
    Index since = 0;
    for (Index i = 0; i < batch.ids.dim(1); ++i, ++since) {
      const std::int32_t token = batch.ids(b, i);
      if (i > 0 && batch.ids(b, i - 1) == '!') {
        said = token;
        since = 0;
      }
      if (token != '?') {
        EXPECT_EQ(batch.targets(b, i), -1);
        continue;
      }
      EXPECT_TRUE(said >= 'a' && said <= 'z');
      EXPECT_EQ(batch.targets(b, i), said);
      longest = std::max(longest, since);
      ++asked;
    }
  }
  EXPECT_GT(asked, kSequences);
  EXPECT_TRUE(longest > batch.ids.dim(1) / 3) << longest;
}

// Compared with a stack.
TEST(BracketsTask, TargetsAreTheClosingBrackets) {
  const Batch batch = some_of("brackets");
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
    const TrainingPlan good = testing::plan_of(id, folder.path());
    EXPECT_NO_THROW(check(good));
    TrainingPlan plan = good;
    plan.text = {folder.path() / "text.txt"};
    EXPECT_THROW(check(plan), InputError) << id;
    plan = good;
    plan.held_out_share = 0.1;
    EXPECT_THROW(check(plan), InputError) << id;
    plan = good;
    plan.model.vocabulary = 300;
    EXPECT_THROW(check(plan), InputError) << id;
    plan = good;
    plan.sequence = 4;
    EXPECT_THROW(check(plan), InputError) << id;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
