#include <gtest/gtest.h>

#include <set>

#include "core/training/number_words.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::string decode_row(const IntTensor& ids, Index row) {
  std::string text;
  for (Index i = 0; i < ids.dim(1) && ids(row, i) < 256 && ids(row, i) >= 0; ++i) {
    text += static_cast<char>(ids(row, i));
  }
  return text;
}

// Every source is a number, and its target is the number in words, which fits the plan's context.
TEST(NumbersTask, GeneratesNumbersAndTheirWords) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = testing::plan_of("numbers", folder.path());
  // Five digits: siebenunddreißigtausendsiebenhundertsiebenunddreißig has 54 bytes.
  plan.model.context = 55;
  const auto instance = task("numbers").make(plan);
  std::set<std::size_t> digits;
  for (std::uint64_t step = 0; step < 60; ++step) {
    const Batch batch = instance->batch(step * 8, 8);
    ASSERT_EQ(batch.ids.shape(), batch.targets.shape());
    EXPECT_LE(batch.ids.dim(1), 55);
    for (Index b = 0; b < 8; ++b) {
      const std::string number = decode_row(batch.source, b), words = decode_row(batch.targets, b);
      EXPECT_EQ(words, german_number(std::stol(number)));
      EXPECT_EQ(static_cast<Index>(number.size()), batch.source.dim(1));  // no padding
      digits.insert(number.size());
      const auto end = static_cast<Index>(words.size());
      EXPECT_EQ(batch.ids(b, Index{0}), 256);
      EXPECT_EQ(batch.targets(b, end), 256);
      for (Index i = 0; i < end; ++i) EXPECT_EQ(batch.ids(b, i + 1), batch.targets(b, i));
      for (Index i = end + 1; i < batch.targets.dim(1); ++i) EXPECT_EQ(batch.targets(b, i), -1);
    }
  }
  EXPECT_EQ(digits, (std::set<std::size_t>{1, 2, 3, 4, 5}));
}

// The words of all numbers below `limit` need at most `context` tokens. With one token less, the
// numbers have one digit less.
TEST(NumbersTask, LongestWordsFitTheContext) {
  const testing::TemporaryFolder folder;
  for (const auto& [context, limit] :
       {std::pair<Index, Index>{7, 10}, {18, 100}, {31, 1000}, {44, 10000}, {55, 100000}}) {
    std::size_t longest = 0;
    for (Index n = 0; n < limit; ++n) longest = std::max(longest, german_number(n).size());
    EXPECT_EQ(static_cast<Index>(longest) + 1, context);
    TrainingPlan plan = testing::plan_of("numbers", folder.path());
    for (const Index missing_tokens : {0, 1}) {
      plan.model.context = context - missing_tokens;
      Index max_digits = 0;
      if (plan.model.context < 7) continue;
      const auto instance = task("numbers").make(plan);
      for (std::uint64_t step = 0; step < 80; ++step) {
        max_digits = std::max(max_digits, instance->batch(step * 8, 8).source.dim(1));
      }
      EXPECT_EQ(max_digits, static_cast<Index>(std::to_string(limit - 1).size()) - missing_tokens)
          << context;
    }
  }
}

// Training draws all numbers below 100, and about nine tenths of the numbers from 100 on.
TEST(NumbersTask, HoldsOutNumbers) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = testing::plan_of("numbers", folder.path());
  plan.model.context = 31;  // three digits
  const auto instance = task("numbers").make(plan);
  std::set<std::string> trained_numbers;
  for (std::uint64_t step = 0; step < 4000; ++step) {
    const Batch batch = instance->batch(step * 8, 8);
    for (Index b = 0; b < 8; ++b) trained_numbers.insert(decode_row(batch.source, b));
  }
  Index held_out = 0;
  for (Index n = 0; n < 1000; ++n) {
    const bool is_trained = trained_numbers.contains(std::to_string(n));
    if (n < 100) {
      EXPECT_TRUE(is_trained) << n;
    } else if (!is_trained) {
      ++held_out;
    }
  }
  EXPECT_TRUE(held_out > 60 && held_out < 130) << held_out;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
