#include "core/view/parts/pattern_cells.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

PatternWindow whole_matrix(const Pattern& pattern) {
  return {0, 0, pattern.queries(), pattern.keys(), 1, 1};
}

// Pattern with strided runs, empty rows and different heads.
Pattern irregular_pattern(Index length) {
  PatternBuilder builder(2, length, length, {"window", "stride"});
  for (Index head = 0; head < 2; ++head) {
    for (Index i = 0; i < length; ++i) {
      if (i % 7 != 3) {
        builder.add(0, i - 2 - head, i + 1);
        builder.add(1, i % 3, length, 3 + head);
      }
      builder.next_row();
    }
  }
  return builder.finish();
}

TEST(PatternCells, EveryPairHasItsRule) {
  const Pattern pattern = irregular_pattern(40);
  for (Index head = 0; head < 2; ++head) {
    const Tensor rules = pattern_rules(pattern, head, whole_matrix(pattern));
    for (Index i = 0; i < 40; ++i) {
      for (Index c = 0; c < 40; ++c) {
        const int rule = pattern.rule(head, i, c);
        if (rule < 0) {
          EXPECT_TRUE(std::isnan(rules(i, c)));
        } else {
          EXPECT_EQ(rules(i, c), static_cast<float>(rule));
        }
      }
    }
  }
}

TEST(PatternCells, BlocksContainLargestRule) {
  const Pattern pattern = irregular_pattern(50);
  const PatternWindow window{3, 5, 41, 38, 4, 3};
  const Tensor rules = pattern_rules(pattern, 1, window);
  ASSERT_EQ(rules.shape(), (Shape{11, 13}));
  for (Index y = 0; y < 11; ++y) {
    for (Index x = 0; x < 13; ++x) {
      int largest = -1;
      for (Index i = 3 + 4 * y; i < std::min<Index>(3 + 4 * y + 4, 44); ++i) {
        for (Index c = 5 + 3 * x; c < std::min<Index>(5 + 3 * x + 3, 43); ++c) {
          largest = std::max(largest, pattern.rule(1, i, c));
        }
      }
      const float actual = rules(y, x);
      EXPECT_TRUE(largest < 0 ? std::isnan(actual) : actual == static_cast<float>(largest));
    }
  }
}

TEST(PatternCells, LongTextsUseVisibleRegion) {
  const PatternWindow short_text = pattern_window(2048, 2048, 100, 100, 10, 10);
  EXPECT_EQ(short_text.height, 2048);
  EXPECT_EQ(short_text.row_step, 1);
  const PatternWindow whole = pattern_window(10000, 10000, 0, 0, 10000, 10000);
  EXPECT_EQ(whole.row_step, 5);
  EXPECT_EQ(whole.height, 10000);
  const PatternWindow region = pattern_window(10000, 10000, 100.5, -20, 50, 80);
  EXPECT_EQ(region.row, 100);
  EXPECT_EQ(region.height, 51);
  EXPECT_EQ(region.row_step, 1);
  EXPECT_EQ(region.column, 0);
  EXPECT_EQ(region.width, 60);
}

TEST(PatternCells, CountsAllowedPairs) {
  const Trace causal = testing::synthetic_trace(1, 1, 10);
  const PatternCounts full = pattern_counts(causal.attention[0], 0);
  EXPECT_EQ(full.allowed, 55);
  EXPECT_EQ(full.all, 100);
  EXPECT_TRUE(full.causal);
  EXPECT_EQ(full.full, 55);

  const Trace sparse = testing::synthetic_trace(irregular_pattern(40));
  for (Index head = 0; head < 2; ++head) {
    const Pattern& pattern = *sparse.attention[0].result.pattern;
    const PatternCounts counts = pattern_counts(sparse.attention[0], head);
    Index by_rule[2] = {0, 0};
    for (Index i = 0; i < 40; ++i) {
      for (Index c = 0; c < 40; ++c) {
        if (pattern.allowed(head, i, c)) ++by_rule[pattern.rule(head, i, c)];
      }
    }
    EXPECT_EQ(counts.by_rule, (std::vector<Index>{by_rule[0], by_rule[1]}));
    EXPECT_FALSE(counts.causal);
    EXPECT_EQ(counts.full, 1600);
  }
}

TEST(PatternCells, MemoryIsVisibleToCausalAttention) {
  const Trace trace = testing::synthetic_trace(Pattern::causal(4, 10, 6));
  const PatternCounts counts = pattern_counts(trace.attention[0], 0);
  EXPECT_TRUE(counts.causal);
  EXPECT_EQ(counts.full, 4 * 6 + 10);
  EXPECT_EQ(counts.allowed, 34);
}

TEST(PatternCells, MaskOverridesPattern) {
  Trace trace = testing::synthetic_trace(1, 2, 3);
  ByteTensor mask = ByteTensor::zeros({2, 3, 3});
  mask(1, 2, 0) = 1;
  trace.attention[0].result.mask = mask;
  EXPECT_EQ(pattern_counts(trace.attention[0], 0).allowed, 0);
  EXPECT_EQ(pattern_counts(trace.attention[0], 1).allowed, 1);
  const Tensor rules = masked_rules(*trace.attention[0].result.pattern, mask, 1);
  EXPECT_EQ(rules(2, 0), 0);
  EXPECT_TRUE(std::isnan(rules(1, 0)));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
