#include "core/part/arrangement.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.h"
#include "core/base/stop.h"
#include "tests/support/pattern_cases.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::build_pattern;
using testing::hashed_pattern;
using testing::random_pattern;
using testing::scattered_pattern;
using testing::strided_pattern;

constexpr Index kBlock = Arrangement::block_rows, kGroup = Arrangement::group_rows;

std::size_t to_size(Index n) {
  return static_cast<std::size_t>(n);
}

// Counts the occurrences of each pair and checks the invariants stated in arrangement.h.
class PairTally {
 public:
  PairTally(const Pattern& pattern, Index head)
      : pattern_(pattern),
        head_(head),
        counts_(to_size(pattern.queries() * pattern.keys()), 0),
        last_layer_(to_size(pattern.queries()), -1),
        had_last_visit_(to_size(pattern.queries()), false) {}

  void add(const Arrangement::Head& head) {
    for (Index i = 0; i < pattern_.queries(); ++i) {
      if (head.is_in_order(i / kBlock))
        add_runs(i, pattern_.row(head_, i).first, pattern_.row(head_, i).last);
    }
    for (std::size_t layer = 0; layer < head.layers.size(); ++layer) {
      for (const Arrangement::Block& block : head.layer(layer)) {
        add_block(head, block, static_cast<int>(layer));
      }
    }
    std::vector<std::int32_t> lone_queries;
    for (const Arrangement::LoneRow& row : head.lone_rows) {
      lone_queries.push_back(row.query);
      EXPECT_EQ(row.first, last_layer_[to_size(row.query)] < 0);
      had_last_visit_[to_size(row.query)] = true;
      for (std::int32_t n = 0; n < row.width; ++n) {
        ++counts_[to_size(row.query * pattern_.keys() + head.columns[row.columns + to_size(n)])];
      }
    }
    std::sort(lone_queries.begin(), lone_queries.end());
    EXPECT_EQ(std::adjacent_find(lone_queries.begin(), lone_queries.end()), lone_queries.end());
    std::vector<std::int32_t> empty_queries;
    for (Index i = 0; i < pattern_.queries(); ++i) {
      const bool is_reordered = !head.is_in_order(i / kBlock);
      EXPECT_EQ(had_last_visit_[to_size(i)], is_reordered && !pattern_.row(head_, i).empty())
          << "query " << i;
      if (is_reordered && pattern_.row(head_, i).empty())
        empty_queries.push_back(static_cast<std::int32_t>(i));
    }
    EXPECT_EQ(head.empty, empty_queries);
  }

  void expect_once() const {
    for (Index i = 0; i < pattern_.queries(); ++i) {
      for (Index c = 0; c < pattern_.keys(); ++c) {
        ASSERT_EQ(counts_[to_size(i * pattern_.keys() + c)], pattern_.allowed(head_, i, c) ? 1 : 0)
            << "query " << i << ", key " << c;
      }
    }
  }

 private:
  void add_runs(Index i, const Run* first, const Run* last) {
    for (const Run* run = first; run != last; ++run) {
      for (std::int32_t c = run->begin; c < run->end; c += run->step) {
        ++counts_[to_size(i * pattern_.keys() + c)];
      }
    }
  }

  void add_block(const Arrangement::Head& head, const Arrangement::Block& block, int layer) {
    ASSERT_LE(block.rows, kBlock);
    const std::int32_t* columns = head.columns.data() + block.columns;
    ASSERT_TRUE(std::is_sorted(columns, columns + block.width));
    const Index words = (block.width + 63) / 64;
    for (Index r = 0; r < block.rows; ++r) {
      const Index i = head.queries[block.queries + to_size(r)];
      ASSERT_FALSE(head.is_in_order(i / kBlock));
      EXPECT_NE(last_layer_[to_size(i)], layer) << "two blocks of a layer have query " << i;
      const std::uint8_t visits = head.visits[block.queries + to_size(r)];
      EXPECT_EQ((visits & Arrangement::first_visit) != 0, last_layer_[to_size(i)] < 0);
      EXPECT_FALSE(had_last_visit_[to_size(i)]) << "a visit after the last one of query " << i;
      if ((visits & Arrangement::last_visit) != 0) had_last_visit_[to_size(i)] = true;
      last_layer_[to_size(i)] = layer;
      const Arrangement::Extent& extent = head.extents[block.extents + to_size(r / kGroup)];
      for (Index x = 0; x < block.width; ++x) {
        const bool is_allowed =
            block.words < 0 ||
            (head.words[to_size(block.words + r * words + x / 64)] >> (x % 64) & 1) != 0;
        const bool is_within = x >= extent.begin && x < extent.end;
        EXPECT_TRUE(is_within || block.words < 0 || !is_allowed);
        if (is_allowed && is_within) ++counts_[to_size(i * pattern_.keys() + columns[x])];
      }
    }
  }

  const Pattern& pattern_;
  const Index head_;
  std::vector<int> counts_;
  std::vector<int> last_layer_;       // last layer that contained the query
  std::vector<bool> had_last_visit_;  // true after the query's last visit
};

void expect_every_pair_once(const Pattern& pattern) {
  const Arrangement arrangement = arrange(pattern);
  ASSERT_EQ(static_cast<Index>(arrangement.heads.size()), pattern.heads());
  for (Index head = 0; head < pattern.heads(); ++head) {
    PairTally pair_tally(pattern, head);
    pair_tally.add(arrangement.of(head));
    pair_tally.expect_once();
  }
}

// Returns the number of cells that kernels compute.
Index cells_of_blocks(const Arrangement::Head& head) {
  Index cells = 0;
  for (const auto& layer : head.layers) {
    for (const Arrangement::Block& block : layer) {
      for (Index r = 0; r < block.rows; ++r) {
        const Arrangement::Extent& extent = head.extents[block.extents + to_size(r / kGroup)];
        cells += extent.end - extent.begin;
      }
    }
  }
  return cells;
}

TEST(Arrangement, ContainsEveryPairOnce) {
  expect_every_pair_once(Pattern::all(70, 33));
  expect_every_pair_once(Pattern::causal(130, 130));
  expect_every_pair_once(strided_pattern(300, 300, 16, 20));
  expect_every_pair_once(strided_pattern(300, 300, 7, 0));
  expect_every_pair_once(strided_pattern(1, 1, 7, 3));
  expect_every_pair_once(hashed_pattern(2, 400, 400, 4));
  expect_every_pair_once(build_pattern(1, 5, 0, 1, [](PatternBuilder&, Index, Index) {}));
  expect_every_pair_once(build_pattern(1, 200, 200, 1, [](PatternBuilder&, Index, Index) {}));
  // More queries have the same first key than fit into a block. Their number is not a multiple of
  // block_rows.
  expect_every_pair_once(strided_pattern(1000, 1000, 7, 0));
}

TEST(Arrangement, ContainsEveryPairOnceForAnyPattern) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Index heads = 1 + static_cast<Index>(random.below(3));
    const Index queries = 1 + static_cast<Index>(random.below(300));
    const Index keys = 1 + static_cast<Index>(random.below(300));
    expect_every_pair_once(random_pattern(heads, queries, keys, seed));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Arrangement, KeepsSimilarRunsInOrder) {
  EXPECT_TRUE(arrange(Pattern::all(200, 100)).all_in_order());
  EXPECT_TRUE(arrange(Pattern::causal(200, 200)).all_in_order());
  EXPECT_TRUE(arrange(build_pattern(1, 300, 300, 1, [](PatternBuilder& rows, Index, Index i) {
                rows.add(0, i - 3, i + 4);
              })).all_in_order());
}

// Blocks contain nearly all allowed pairs and few forbidden pairs.
TEST(Arrangement, FillsRectanglesWithSharedKeys) {
  const Pattern by_stride = strided_pattern(2048, 2048, 32, 32),
                by_bucket = hashed_pattern(1, 1024, 1024, 16);
  for (const Pattern* pattern : {&by_stride, &by_bucket}) {
    const Arrangement arrangement = arrange(*pattern);
    const Arrangement::Head& head = arrangement.of(0);
    Index lone_pairs = 0, pairs_in_order = 0;
    for (const Arrangement::LoneRow& row : head.lone_rows) {
      lone_pairs += row.width;
    }
    for (Index i = 0; i < pattern->queries(); ++i) {
      if (head.is_in_order(i / kBlock)) pairs_in_order += pattern->row_size(0, i);
    }
    const Index pairs = pattern->pair_count(1) - pairs_in_order;
    EXPECT_LT(lone_pairs, pairs / 20);
    EXPECT_LT(cells_of_blocks(head), 3 * pairs / 2);
  }
}

// Memory is proportional to the number of pairs.
TEST(Arrangement, StoresScatteredKeysAsLoneRows) {
  const Index length = 4096;
  const Pattern pattern = scattered_pattern(1, length, length, 16);
  const Arrangement arrangement = arrange(pattern);
  const Arrangement::Head& head = arrangement.of(0);
  EXPECT_EQ(static_cast<Index>(head.lone_rows.size()), length);
  EXPECT_EQ(static_cast<Index>(head.columns.size()), pattern.pair_count(1));
  EXPECT_TRUE(head.words.empty());
}

TEST(Arrangement, IsComputedOnceAndShared) {
  const Pattern pattern = strided_pattern(300, 300, 16, 20);
  const Pattern copy = pattern;
  const auto first = pattern.arrangement();
  EXPECT_EQ(first, pattern.arrangement());
  EXPECT_EQ(first, copy.arrangement());
}

TEST(Arrangement, CanBeCancelled) {
  const Pattern pattern = strided_pattern(300, 300, 16, 20);
  {
    const Stop stop;
    stop.request();
    const StopScope scope(stop);
    EXPECT_THROW(pattern.arrangement(), Stopped);
  }
  EXPECT_NO_THROW(pattern.arrangement());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
