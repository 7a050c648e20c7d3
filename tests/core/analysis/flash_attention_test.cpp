#include "core/analysis/flash_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/pair.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kLength = 13;

Trace run_full(bool causal, const char* encoding = "rope", Index kv_heads = 2) {
  return testing::run_model(
      {.encoding = encoding, .length = kLength, .kv_heads = kv_heads, .causal = causal});
}

FlashOperands operands_of(const AttentionTap& tap, Index head) {
  return flash_operands(tap, head, flash_scores(tap, head));
}

// Every size of block ends at the head's recorded output.
TEST(FlashAttention, EndsAtTheResultOfTheOperation) {
  for (const bool causal : {true, false}) {
    for (const char* encoding : {"rope", "alibi", "t5"}) {
      const Trace trace = run_full(causal, encoding, causal ? 1 : 2);
      const AttentionTap& tap = trace.attention[1];
      for (const Index head : {0, 1}) {
        const FlashOperands operands = operands_of(tap, head);
        const Tensor expected =
            tap.output().slice(head, 1).reshaped({kLength, tap.output().dim(2)});
        for (const FlashBlocks blocks :
             {FlashBlocks{1, 1}, FlashBlocks{3, 4}, FlashBlocks{5, 2}, FlashBlocks{64, 64}}) {
          const std::vector<FlashTile> tiles = flash_tiles(*tap.result.pattern, blocks);
          const FlashState state = flash_state(operands, tiles, tiles.size());
          EXPECT_TRUE(testing::close(state.output, expected, 1e-5))
              << encoding << " " << blocks.queries << " x " << blocks.keys;
          EXPECT_TRUE(flash_error(operands, state) <= 1e-5);
        }
      }
    }
  }
}

// m and l are maximum and sum over the keys of the tiles so far.
TEST(FlashAttention, RunningNumbersCoverTheKeysSeen) {
  const Trace trace = run_full(true);
  const AttentionTap& tap = trace.attention[0];
  const FlashOperands operands = operands_of(tap, 1);
  const std::vector<FlashTile> tiles = flash_tiles(*tap.result.pattern, {4, 3});
  std::vector<std::vector<double>> seen(kLength);
  for (std::size_t n = 0; n < tiles.size(); ++n) {
    for (Index i = tiles[n].query; i < tiles[n].query + tiles[n].queries; ++i) {
      for (Index j = tiles[n].key; j < tiles[n].key + tiles[n].keys && j <= i; ++j) {
        seen[static_cast<std::size_t>(i)].push_back(pair_score(*tap.part(), 1, i, j)->score);
      }
    }
    const FlashState state = flash_state(operands, tiles, n + 1);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (seen[i].empty()) {
        EXPECT_EQ(state.l[i], 0) << n << " " << i;
        continue;
      }
      const double m = *std::ranges::max_element(seen[i]);
      double l = 0;
      for (const double score : seen[i]) l += std::exp(score - m);
      EXPECT_TRUE(std::abs(static_cast<double>(state.m[i]) - m) <= 1e-5) << n << " " << i;
      EXPECT_TRUE(std::abs(static_cast<double>(state.l[i]) - l) <= 1e-4 * l) << n << " " << i;
    }
  }
}

TEST(FlashAttention, SkipsTilesWithoutAllowedPairs) {
  EXPECT_EQ(flash_tiles(Pattern::all(12, 12), {4, 4}).size(), 9u);
  EXPECT_EQ(flash_tiles(Pattern::causal(12, 12), {4, 4}).size(), 6u);
  EXPECT_EQ(flash_tiles(Pattern::causal(4, 12, 8), {4, 4}).size(), 3u);  // after a memory
  const std::vector<FlashTile> tiles = flash_tiles(Pattern::causal(12, 12), {4, 4});
  EXPECT_EQ(tiles[1].query, 4);  // all query blocks of a key block are consecutive
  EXPECT_EQ(tiles[1].key, 0);
  EXPECT_EQ(tiles[3].query, 4);
  EXPECT_EQ(tiles[3].key, 4);
}

// Counts of algorithms 0 and 1 for N = 8, d = 3, by hand.
TEST(FlashAttention, CountsNumbersMoved) {
  const FlashTraffic traffic = flash_traffic(8, 3, {4, 2}, false);
  EXPECT_EQ(traffic.plain, 4 * 8 * 3 + 4 * 64);
  // Initial o, l, m; k and v once; 8 tiles of 4 queries that read q, o, l, m and write o, l, m.
  EXPECT_EQ(traffic.tiled, 8 * 5 + 2 * 8 * 3 + 8 * 4 * (3 + 5 + 5));
  EXPECT_TRUE(flash_traffic(8, 3, {4, 2}, true).tiled < traffic.tiled);
  EXPECT_EQ(flash_blocks(49152, 64).keys, 192);
  EXPECT_EQ(flash_blocks(49152, 64).queries, 64);
  EXPECT_EQ(flash_blocks(100, 64).queries, 1);
}

// Tiles of 192 KB move fewer numbers than plain attention on long texts, small tiles more.
TEST(FlashAttention, LargeTilesSaveTraffic) {
  const FlashTraffic large = flash_traffic(4096, 64, flash_blocks(49152, 64), false);
  EXPECT_TRUE(large.tiled < large.plain / 3);
  const FlashTraffic small = flash_traffic(4096, 64, {4, 4}, false);
  EXPECT_TRUE(small.tiled > small.plain);
}

TEST(FlashAttention, RefusesOtherOperations) {
  EXPECT_EQ(flash_refusal(run_full(true).attention[0]), "");
  for (const auto& [choice, word] :
       {std::pair{R"({"type": "local", "window": 2})", "full attention"},
        std::pair{"linear", "softmax"}, std::pair{"gmlp", "softmax"}}) {
    const Trace trace = testing::run_model({.variant = choice, .encoding = "none"});
    const std::string refusal = flash_refusal(trace.attention[0]);
    EXPECT_NE(refusal.find(word), std::string::npos) << choice << ": " << refusal;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
