// Compares patterns with sets of columns.
#include "core/part/pattern.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Index of the rule that allows a column, by column.
using Columns = std::map<Index, int>;

Columns columns_of(const Pattern& pattern, Index head, Index query) {
  Columns columns;
  std::int32_t begin = -1;
  for (const Run& run : pattern.row(head, query)) {
    EXPECT_LE(begin, run.begin) << "runs are not sorted";
    begin = run.begin;
    EXPECT_GE(run.step, 1);
    EXPECT_GT(run.count(), 0);
    for (Index c = run.begin; c < run.end; c += run.step) {
      EXPECT_TRUE(c >= 0 && c < pattern.keys());
      EXPECT_TRUE(columns.emplace(c, run.rule).second) << "column " << c << " occurs twice";
    }
  }
  return columns;
}

TEST(Pattern, AgreesWithSetsForRandomRuns) {
  std::mt19937 random(7);
  const auto random_below = [&](Index n) {
    return static_cast<Index>(random() % static_cast<unsigned>(n));
  };
  for (int round = 0; round < 300; ++round) {
    const Index heads = 1 + random_below(3), queries = 1 + random_below(5),
                keys = 1 + random_below(60);
    const bool has_steps = round % 2 == 0;
    PatternBuilder builder(heads, queries, keys, {"a", "b", "c"});
    std::vector<Columns> expected;
    for (Index row = 0; row < heads * queries; ++row) {
      Columns columns;
      const Index limit = random_below(4) == 0 ? random_below(keys + 1) : keys;
      const bool sets_limit_first = random_below(2) == 0;
      if (limit != keys && sets_limit_first) builder.set_causal_limit(limit);
      for (Index n = random_below(6); n > 0; --n) {
        const int rule = static_cast<int>(random_below(3));
        const Index begin = random_below(keys + 20) - 10, end = begin + random_below(30) - 2;
        const Index step = has_steps ? 1 + random_below(4) : 1;
        builder.add(rule, begin, end, step);
        for (Index c = begin; c < end; c += step) {
          if (c >= 0 && c < limit) columns.emplace(c, rule);
        }
      }
      if (limit != keys && !sets_limit_first) builder.set_causal_limit(limit);
      builder.next_row();
      expected.push_back(columns);
    }
    const Pattern pattern = builder.finish();
    const ByteTensor mask = pattern.mask(heads);
    Index pairs = 0;
    for (Index row = 0; row < heads * queries; ++row) {
      const Index head = row / queries, query = row % queries;
      const Columns& columns = expected[static_cast<std::size_t>(row)];
      ASSERT_EQ(columns_of(pattern, head, query), columns) << "round " << round;
      EXPECT_EQ(pattern.row_size(head, query), static_cast<Index>(columns.size()));
      pairs += static_cast<Index>(columns.size());
      for (Index c = 0; c < keys; ++c) {
        const auto it = columns.find(c);
        ASSERT_EQ(pattern.rule(head, query, c), it == columns.end() ? -1 : it->second);
        ASSERT_EQ(pattern.allowed(head, query, c), it != columns.end());
        ASSERT_EQ(mask(head, query, c), it != columns.end());
      }
    }
    EXPECT_EQ(pattern.pair_count(heads), pairs);
  }
}

// Adds more runs than the growing storage moves between two cancellation checks.
TEST(Pattern, KeepsHundredsOfThousandsOfRuns) {
  constexpr Index kRows = 700, kRunsOfRow = 1000;
  PatternBuilder builder(1, kRows, 3 * kRunsOfRow, {"a"});
  for (Index row = 0; row < kRows; ++row) {
    for (Index n = 0; n < kRunsOfRow; ++n) builder.add_column(0, 3 * n + row % 3);
    builder.next_row();
  }
  const Pattern pattern = builder.finish();
  EXPECT_EQ(pattern.pair_count(1), kRows * kRunsOfRow);
  for (Index row = 0; row < kRows; ++row) {
    Columns expected;
    for (Index n = 0; n < kRunsOfRow; ++n) expected.emplace(3 * n + row % 3, 0);
    ASSERT_EQ(columns_of(pattern, 0, row), expected) << row;
  }
}

TEST(Pattern, JoinsNeighbours) {
  PatternBuilder builder(1, 3, 100, {"a", "b"});
  for (Index c = 10; c < 20; ++c) builder.add_column(0, c);
  builder.next_row();
  builder.add(0, 5, 15);
  builder.add(0, 0, 10);
  builder.next_row();
  builder.add(0, 40, 51);     // a window
  builder.add(1, 0, 51, 10);  // a stride that overlaps the window
  builder.next_row();
  const Pattern pattern = builder.finish();
  EXPECT_EQ(pattern.row(0, 0).end() - pattern.row(0, 0).begin(), 1);
  EXPECT_EQ(pattern.row(0, 1).end() - pattern.row(0, 1).begin(), 1);
  EXPECT_EQ(pattern.row(0, 2).end() - pattern.row(0, 2).begin(), 2);
  EXPECT_EQ(pattern.row(0, 2).begin()->step, 10);
}

TEST(Pattern, StoresOneRunPerRowOfDensePatterns) {
  const Pattern full = Pattern::all(1000, 500);
  EXPECT_EQ(full.runs().size(), 1000U);
  EXPECT_EQ(full.pair_count(8), 8 * 1000 * 500);
  const Pattern causal = Pattern::causal(1000, 1003, 3);
  EXPECT_EQ(causal.runs().size(), 1000U);
  EXPECT_TRUE(causal.allowed(0, 0, 3));
  EXPECT_FALSE(causal.allowed(0, 0, 4));
  EXPECT_EQ(causal.row_size(0, 999), 1003);
  EXPECT_EQ(causal.row_size(5, 999), 1003) << "rows do not apply to all heads";
}

TEST(Pattern, StoresStartsOfRows) {
  const Pattern pattern = Pattern::causal(4, 4);
  EXPECT_EQ(pattern.starts(), (StorageVector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(Pattern, RejectsTooManyColumns) {
  EXPECT_THROW(PatternBuilder(1, 1, Index{1} << 31, {"a"}), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
