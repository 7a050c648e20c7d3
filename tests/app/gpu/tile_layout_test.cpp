#include "app/gpu/tile_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/stop.h"
#include "core/part/arrangement.h"
#include "tests/app/gpu/part_cases.h"
#include "tests/support/pattern_cases.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Pairs = std::set<std::tuple<Index, Index, Index>>;  // head, query, key

std::size_t to_size(Index n) {
  return static_cast<std::size_t>(n);
}

Pairs pairs_of(const Pattern& pattern) {
  Pairs pairs;
  for (Index h = 0; h < pattern.heads(); ++h) {
    for (Index i = 0; i < pattern.queries(); ++i) {
      for (Index j = 0; j < pattern.keys(); ++j) {
        if (pattern.allowed(h, i, j)) pairs.emplace(h, i, j);
      }
    }
  }
  return pairs;
}

Pattern band_pattern(Index length, Index reach) {
  PatternBuilder builder(1, length, length, {"window", "own"});
  for (Index i = 0; i < length; ++i) {
    builder.add(0, i - reach, i);
    builder.add(1, i, i + 1);  // a neighbour from another rule
    builder.next_row();
  }
  return builder.finish();
}

// Checks all invariants of a layout.
void expect_layout(const Pattern& pattern) {
  const TileLayout layout(pattern);
  Pairs pairs;
  std::map<std::pair<Index, Index>, int> visits;  // {head, query} -> flags of the latest visit
  for (const TileLayout::List& list : layout.lists()) {
    std::set<std::pair<Index, Index>> queries;
    std::int64_t cells = 0;
    for (Index n = list.first; n < list.first + list.count; ++n) {
      const TileLayout::Tile& t = layout.tiles()[to_size(n)];
      EXPECT_EQ(t.base, cells);
      cells += layout.cells(t, list);
      EXPECT_TRUE(t.rows > 0 && t.rows <= list.height);
      EXPECT_LE(to_size(t.columns + t.width), layout.columns().size());
      for (Index r = 0; r < t.rows; ++r) {
        const TileLayout::Row& row = layout.rows()[to_size(t.row + r)];
        EXPECT_TRUE(queries.emplace(t.head, row.query).second) << "twice in a list";
        EXPECT_TRUE(0 <= row.begin && row.begin <= row.end && row.end <= t.width);
        const auto previous = visits.find({t.head, row.query});
        EXPECT_EQ((row.visits & Arrangement::first_visit) != 0, previous == visits.end());
        EXPECT_TRUE(previous == visits.end() || (previous->second & Arrangement::last_visit) == 0);
        visits[{t.head, row.query}] = row.visits;
        for (Index x = 0; x < t.width; ++x) {
          if (!layout.allows(row, x)) continue;
          const Index key = layout.columns()[to_size(t.columns + x)];
          EXPECT_TRUE(pairs.emplace(t.head, row.query, key).second) << "a pair twice";
        }
      }
      for (Index r = t.rows; r < list.height; ++r) {
        const TileLayout::Row& row = layout.rows()[to_size(t.row + r)];
        EXPECT_EQ(row.query, layout.rows()[to_size(t.row + t.rows - 1)].query);
        EXPECT_EQ(row.end, 0);
      }
    }
    EXPECT_EQ(layout.cells(list), cells);
  }
  EXPECT_TRUE(pairs == pairs_of(pattern));
  EXPECT_EQ(static_cast<Index>(visits.size()), pattern.heads() * pattern.queries());
  bool has_several = false;
  for (const TileLayout::Row& row : layout.rows()) has_several |= row.visits != 3 && row.end > 0;
  EXPECT_EQ(layout.has_several_visits(), has_several);
  for (const auto& [row, flags] : visits) EXPECT_NE(flags & Arrangement::last_visit, 0);
}

TEST(TileLayout, ContainsEachPairOnce) {
  for (const auto& pattern : testing::pattern_cases()) {
    SCOPED_TRACE(pattern.name);
    expect_layout(pattern.make(2, 37, 37));
    expect_layout(pattern.make(1, 200, 150));
    expect_layout(pattern.make(3, 1, 1));
  }
  expect_layout(band_pattern(37, 9));
}

TEST(TileLayout, ContainsEachPairOnceForArbitraryPatterns) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    expect_layout(testing::random_pattern(1 + static_cast<Index>(seed) % 2, 150, 130, seed));
  }
}

TEST(TileLayout, MergesNeighboursFromDifferentRules) {
  const Index length = 256, reach = 128;
  const TileLayout layout(band_pattern(length, reach));
  for (const TileLayout::Row& row : layout.rows()) {
    if (row.query < reach) continue;
    EXPECT_EQ(row.words, -1);
    EXPECT_EQ(row.end - row.begin, reach + 1);
  }
}

// In a strided pattern, queries with equal remainders share their keys, so that tiles are full.
TEST(TileLayout, GroupsRowsThatShareKeys) {
  const Index length = 512;
  PatternBuilder builder(1, length, length, {"stride"});
  for (Index i = 0; i < length; ++i) {
    builder.add(0, i % 64, length, 64);
    builder.next_row();
  }
  const Pattern pattern = builder.finish();
  const TileLayout layout(pattern);
  ASSERT_EQ(layout.lists().size(), 1U);
  EXPECT_EQ(layout.cells(layout.lists()[0]), pattern.pair_count(1));
  EXPECT_TRUE(layout.words().empty());
}

// Expects every tile of every copy once, and each chunk within the limit unless it is a single
// tile.
void expect_chunks(const Pattern& pattern, Index copies, std::int64_t max_cells) {
  const TileLayout layout(pattern);
  std::set<std::pair<Index, Index>> covered;  // copy, tile
  for (ChunkStart start; start.list < layout.lists().size();) {
    const ChunkStart previous = start;
    const Chunk chunk = next_chunk(layout, copies, max_cells, start);
    ASSERT_GT(chunk.copies * chunk.tiles, 0);
    EXPECT_EQ(chunk.list, previous.list);
    EXPECT_TRUE(chunk.cells * chunk.copies <= max_cells || chunk.copies * chunk.tiles == 1);
    const TileLayout::List& list = layout.lists()[chunk.list];
    std::int64_t cells = 0;
    for (Index t = list.first + chunk.tile; t < list.first + chunk.tile + chunk.tiles; ++t) {
      cells += layout.cells(layout.tiles()[to_size(t)], list);
      EXPECT_LE(layout.tiles()[to_size(t)].stride(), chunk.widest);
      for (Index copy = chunk.copy; copy < chunk.copy + chunk.copies; ++copy) {
        EXPECT_TRUE(covered.emplace(copy, t).second);
      }
    }
    EXPECT_EQ(chunk.cells, cells);
    EXPECT_TRUE(chunk.copies == 1 || chunk.tiles == list.count);
  }
  EXPECT_EQ(covered.size(), to_size(copies) * layout.tiles().size());
}

TEST(TileLayout, ChunksCoverEachTileOnce) {
  for (const std::int64_t max_cells : {1, 100, 1000, 5000, 1 << 20}) {
    expect_chunks(band_pattern(37, 9), 6, max_cells);
    expect_chunks(testing::random_pattern(2, 150, 150, 3), 3, max_cells);
    expect_chunks(Pattern::causal(21, 21), 4, max_cells);
  }
}

// A dispatch processes each tile of a chunk at the width of the widest tile, so wide and narrow
// tiles must be in different chunks.
TEST(TileLayout, ChunksContainTilesOfSimilarWidth) {
  const Index length = 4096;
  PatternBuilder builder(1, length, length, {"some"});
  for (Index i = 0; i < length; ++i) {
    if (i % 64 == 0) {
      builder.add(0, i % 7, length, 2);
    } else {
      builder.add_column(0, i * 389 % length);
    }
    builder.next_row();
  }
  const TileLayout layout(builder.finish());
  for (ChunkStart start; start.list < layout.lists().size();) {
    const Chunk chunk = next_chunk(layout, 1, 1 << 24, start);
    const Index covered = chunk.tiles * layout.lists()[chunk.list].height * chunk.widest;
    EXPECT_LE(covered, 4 * chunk.cells + (1 << 16));
  }
}

// The device receives lists of tiles, rows and keys, never a map of queries and keys.
TEST(TileLayout, SizesGrowWithNumberOfPairs) {
  for (const Index length : {1024, 8192}) {
    PatternBuilder builder(1, length, length, {"recent", "stride"});
    for (Index i = 0; i < length; ++i) {
      builder.add(0, i - 8, i + 1);
      builder.add(1, i % 512, i + 1, 512);
      builder.next_row();
    }
    const Pattern pattern = builder.finish();
    for (const Pattern& p : {pattern, testing::scattered_pattern(1, length, length, 16)}) {
      const TileLayout layout(p);
      std::int64_t cells = 0;
      for (const TileLayout::List& list : layout.lists()) cells += layout.cells(list);
      EXPECT_LT(cells, 3 * p.pair_count(1)) << length;
      const std::size_t numbers = layout.columns().size() + layout.words().size() +
                                  5 * layout.rows().size() + 6 * layout.tiles().size();
      EXPECT_LT(static_cast<Index>(numbers), 2 * p.pair_count(1)) << length;
    }
  }
}

TEST(TileLayout, StopsOnRequest) {
  const Pattern pattern = testing::scattered_pattern(1, 64, 64, 8);
  const Stop stop;
  stop.request();
  const StopScope scope(stop);
  EXPECT_THROW(TileLayout{pattern}, Stopped);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
