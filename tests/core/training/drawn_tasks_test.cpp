// Sequences of the tasks recall, brackets, addition, copy, reverse, sort, induction, associative.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
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

// Every sum is right; targets are its digits and the space after them.
TEST(AdditionTask, TargetsAreTheSums) {
  const Batch batch = make_batch("addition");
  Index sums = 0;
  for (Index b = 0; b < kSequences; ++b) {
    std::string text;
    for (Index i = 0; i < batch.ids.dim(1); ++i) text += static_cast<char>(batch.ids(b, i));
    for (std::size_t first = 0; first < text.size();) {
      const std::size_t plus = text.find('+', first), equals = text.find('=', first);
      const std::size_t space = text.find(' ', first);
      if (space == std::string::npos) break;
      ASSERT_TRUE(plus < equals && equals < space) << text;
      EXPECT_EQ(std::stol(text.substr(first)) + std::stol(text.substr(plus + 1)),
                std::stol(text.substr(equals + 1)))
          << text;
      for (std::size_t n = first; n < space; ++n) {
        const std::int32_t expected = n >= equals ? text[n + 1] : -1;
        EXPECT_EQ(batch.targets(b, static_cast<Index>(n)), expected) << text << " at " << n;
      }
      first = space + 1;
      ++sums;
    }
  }
  EXPECT_GT(sums, 2 * kSequences);
}

// Source and target have the same letters, of all lengths that fit.
TEST(CopyTask, TargetsAreTheSources) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = testing::plan_of("copy", folder.path());
  plan.model.context = 6;
  const auto instance = task("copy").make(plan);
  std::set<Index> lengths;
  for (std::uint64_t step = 0; step < 100; ++step) {
    const Batch batch = instance->batch(step * 8, 8);
    const Index length = batch.source.dim(1);
    ASSERT_EQ(batch.ids.dim(1), length + 1);
    lengths.insert(length);
    for (Index b = 0; b < 8; ++b) {
      EXPECT_EQ(batch.ids(b, Index{0}), 256);
      EXPECT_EQ(batch.targets(b, length), 256);
      for (Index i = 0; i < length; ++i) {
        EXPECT_TRUE(batch.source(b, i) >= 'a' && batch.source(b, i) <= 'z');
        EXPECT_EQ(batch.targets(b, i), batch.source(b, i));
        EXPECT_EQ(batch.ids(b, i + 1), batch.source(b, i));
      }
    }
  }
  EXPECT_EQ(lengths, (std::set<Index>{1, 2, 3, 4, 5}));
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

TEST(LettersTasks, RearrangeTheSource) {
  const testing::TemporaryFolder folder;
  for (const char* id : {"reverse", "sort"}) {
    const TrainingPlan plan = testing::plan_of(id, folder.path());
    const Batch batch = task(id).make(plan)->batch(24, 8);
    const Index length = batch.source.dim(1);
    for (Index b = 0; b < 8; ++b) {
      std::string source, target;
      for (Index i = 0; i < length; ++i) {
        source += static_cast<char>(batch.source(b, i));
        target += static_cast<char>(batch.targets(b, i));
      }
      if (id == std::string("reverse")) std::ranges::reverse(source);
      if (id == std::string("sort")) std::ranges::sort(source);
      EXPECT_EQ(target, source);
      EXPECT_EQ(batch.targets(b, length), 256);
    }
  }
}

// The letters of a period are distinct, so that each determines its successor.
TEST(InductionTask, RepeatsDistinctLetters) {
  const testing::TemporaryFolder folder;
  const TrainingPlan plan = testing::plan_of("induction", folder.path());
  const Batch batch = task("induction").make(plan)->batch(0, 40);
  std::set<Index> periods;
  for (Index b = 0; b < 40; ++b) {
    std::map<std::int32_t, std::int32_t> next;
    Index targets = 0;
    for (Index i = 0; i + 1 < batch.ids.dim(1); ++i) {
      const std::int32_t letter = batch.ids(b, i), follower = batch.ids(b, i + 1);
      ASSERT_TRUE(letter >= 'a' && letter <= 'z');
      EXPECT_EQ(next.emplace(letter, follower).first->second, follower);
      if (batch.targets(b, i) < 0) continue;
      EXPECT_EQ(batch.targets(b, i), follower);
      ++targets;
    }
    periods.insert(static_cast<Index>(next.size()));
    EXPECT_EQ(targets, batch.ids.dim(1) - 1 - static_cast<Index>(next.size()));
  }
  EXPECT_GT(periods.size(), 5u);
}

TEST(AssociativeTask, TargetsAreEarlierDigits) {
  const testing::TemporaryFolder folder;
  const TrainingPlan plan = testing::plan_of("associative", folder.path());
  const Batch batch = task("associative").make(plan)->batch(0, 40);
  Index targets = 0;
  for (Index b = 0; b < 40; ++b) {
    std::map<std::int32_t, std::int32_t> digits;
    for (Index i = 0; i + 1 < batch.ids.dim(1); i += 2) {
      const std::int32_t letter = batch.ids(b, i), digit = batch.ids(b, i + 1);
      ASSERT_TRUE(letter >= 'a' && letter <= 'z' && digit >= '0' && digit <= '9');
      const bool is_new = digits.emplace(letter, digit).second;
      EXPECT_EQ(digits[letter], digit);
      EXPECT_EQ(batch.targets(b, i), is_new ? -1 : digit);
      EXPECT_EQ(batch.targets(b, i + 1), -1);
      targets += is_new ? 0 : 1;
    }
  }
  EXPECT_GT(targets, 200);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
