#include "app/gpu/pattern_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace attnscope {
namespace {

using Pairs = std::set<std::tuple<Index, Index, Index>>;  // head, query, key

Pairs pairs_of(const Pattern& pattern) {
  Pairs pairs;
  for (Index a = 0; a < pattern.heads(); ++a) {
    for (Index i = 0; i < pattern.queries(); ++i) {
      for (Index j = 0; j < pattern.keys(); ++j) {
        if (pattern.allowed(a, i, j)) pairs.emplace(a, i, j);
      }
    }
  }
  return pairs;
}

// A window, a strided rest and an empty row, in two heads that differ.
Pattern scattered(Index length) {
  PatternBuilder builder(2, length, length, {"window", "strided"});
  for (Index head = 0; head < 2; ++head) {
    for (Index i = 0; i < length; ++i) {
      if (i % 11 != 5) {
        builder.add(0, i - 2 - head, i + 1);
        builder.add(1, head, length, 3);
      }
      builder.next_row();
    }
  }
  return builder.finish();
}

Pattern band(Index length, Index reach) {
  PatternBuilder builder(1, length, length, {"window", "own"});
  for (Index i = 0; i < length; ++i) {
    builder.add(0, i - reach, i);
    builder.add(1, i, i + 1);  // a neighbour by another rule
    builder.next_row();
  }
  return builder.finish();
}

TEST(PatternLayout, JoinsNeighboursWhateverAdmitsThem) {
  const PatternLayout layout(band(20, 4));
  EXPECT_TRUE(layout.tiles());
  EXPECT_EQ(layout.runs().size(), 20U);
  EXPECT_EQ(layout.runs()[10].begin, 6);
  EXPECT_EQ(layout.runs()[10].end, 11);
}

TEST(PatternLayout, TilesCoverEachPair) {
  const Pattern pattern = band(37, 9);
  const PatternLayout layout(pattern);
  ASSERT_TRUE(layout.tiles());
  for (const auto& [a, i, j] : pairs_of(pattern)) {
    const auto& columns = layout.tile_columns()[static_cast<std::size_t>(i / PatternLayout::tile)];
    EXPECT_EQ(columns.first % PatternLayout::tile, 0);
    EXPECT_TRUE(j >= columns.first && j < columns.first + columns.width) << i << "," << j;
  }
  // Linear in the band, not in the matrix.
  EXPECT_LE(layout.scores(), 37 * 32);
}

TEST(PatternLayout, SegmentsAreThePairsInOrder) {
  const Index length = 150;  // rows of more than one segment
  const Pattern pattern = scattered(length);
  const PatternLayout layout(pattern);
  ASSERT_FALSE(layout.tiles());
  ASSERT_EQ(layout.segment_starts().size(), static_cast<std::size_t>(2 * length + 1));
  Pairs found;
  std::int64_t before = 0;
  for (Index row = 0; row < 2 * length; ++row) {
    const auto first =
        static_cast<std::size_t>(layout.segment_starts()[static_cast<std::size_t>(row)]);
    const auto last =
        static_cast<std::size_t>(layout.segment_starts()[static_cast<std::size_t>(row) + 1]);
    const Index pairs = pattern.row_count(row / length, row % length);
    ASSERT_EQ(last - first, static_cast<std::size_t>((pairs + 63) / 64));
    Index left = pairs;
    for (std::size_t s = first; s < last; ++s) {
      const PatternLayout::Segment& segment = layout.segments()[s];
      EXPECT_EQ(segment.row, row);
      EXPECT_EQ(segment.at, static_cast<std::uint32_t>(before + pairs - left));
      // As the shader walks: from the run's `skip`-th column on, through the runs that follow.
      Index run = segment.run, skip = segment.skip;
      for (Index n = 0; n < std::min<Index>(left, PatternLayout::segment); ++n) {
        const BareRun* r = &layout.runs()[static_cast<std::size_t>(run)];
        while (r->begin + skip * r->step >= r->end) {
          r = &layout.runs()[static_cast<std::size_t>(++run)];
          skip = 0;
        }
        found.emplace(row / length, row % length, r->begin + skip++ * r->step);
      }
      left -= std::min<Index>(left, PatternLayout::segment);
    }
    before += pairs;
  }
  EXPECT_EQ(found, pairs_of(pattern));
  EXPECT_EQ(layout.scores(), static_cast<std::int64_t>(found.size()));
}

// Every row of every head once, each piece within the limit unless it is a single step.
void expect_chunks(const Pattern& pattern, Index batch, Index heads, std::int64_t most) {
  const PatternLayout layout(pattern);
  std::set<std::pair<Index, Index>> seen;
  for (Index head = 0, row = 0; head < batch * heads;) {
    const Chunk chunk = next_chunk(layout, batch, heads, head, row, most);
    ASSERT_GT(chunk.heads * chunk.rows, 0);
    EXPECT_EQ(chunk.head, head);
    EXPECT_EQ(chunk.row, row);
    EXPECT_TRUE(chunk.scores <= most || (chunk.heads == 1 && chunk.rows <= layout.row_step()));
    if (layout.pattern_heads() > 1) {
      EXPECT_EQ(head / heads, (head + chunk.heads - 1) / heads);
    }
    for (Index h = 0; h < chunk.heads; ++h) {
      for (Index i = 0; i < chunk.rows; ++i) {
        EXPECT_TRUE(seen.emplace(head + h, row + i).second);
      }
    }
    row += chunk.rows;
    if (row == layout.queries()) {
      row = 0;
      head += chunk.heads;
    } else {
      EXPECT_EQ(chunk.heads, 1);
    }
  }
  EXPECT_EQ(static_cast<Index>(seen.size()), batch * heads * pattern.queries());
}

// What goes to the device is a list of runs and pairs, never a map of queries and keys.
TEST(PatternLayout, SizesFollowThePairs) {
  for (const Index length : {1024, 8192}) {
    PatternBuilder builder(1, length, length, {"recent", "stride"});
    for (Index i = 0; i < length; ++i) {
      builder.add(0, i - 8, i + 1);
      builder.add(1, i % 512, i + 1, 512);
      builder.next_row();
    }
    const Pattern pattern = builder.finish();
    const PatternLayout layout(pattern);
    EXPECT_FALSE(layout.tiles());
    EXPECT_EQ(layout.scores(), pattern.pair_count(1));
    const std::size_t numbers = 3 * layout.runs().size() + layout.starts().size() +
                                layout.offsets().size() + 4 * layout.segments().size() +
                                layout.segment_starts().size();
    EXPECT_LT(static_cast<Index>(numbers), 2 * pattern.pair_count(1)) << length;
  }
}

TEST(PatternLayout, ChunksGoThroughAllRowsOnce) {
  for (const std::int64_t most : {1, 100, 1000, 5000, 1 << 20}) {
    expect_chunks(band(37, 9), 2, 3, most);
    expect_chunks(scattered(50), 3, 2, most);
    expect_chunks(Pattern::causal(21, 21), 1, 4, most);
  }
}

}  // namespace
}  // namespace attnscope
