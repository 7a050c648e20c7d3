#include "core/analysis/memory_use.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/compare.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// A text of twelve tokens in segments of four.
Trace segmented_trace() {
  Trace trace;
  trace.tokens = testing::synthetic_tokens(12);
  ModelConfig config;
  config.segment = 4;
  trace.config = std::make_shared<const ModelConfig>(config);
  trace.parts.segment = true;
  return trace;
}

// A tap of two heads in a segment. Memory columns, with sources `remembered`, precede four tokens.
AttentionTap tap_of(Index segment, Index layer, std::vector<RowSource> remembered,
                    Pattern pattern) {
  AttentionTap tap;
  tap.address.segment = segment;
  tap.address.layer = layer;
  tap.heads = {0, 1};
  tap.variant = default_variant();
  tap.query_rows.first = tap.key_rows.first = 4 * segment;
  tap.remembered = std::move(remembered);
  const Index memory_columns = pattern.keys() - 4;
  if (memory_columns > 0)
    tap.result.columns = {{KeyKind::Memory, memory_columns}, {KeyKind::Token, 4}};
  tap.result.pattern = std::make_shared<const Pattern>(std::move(pattern));
  return tap;
}

TEST(MemoryUse, ClassifiesColumns) {
  AttentionTap tap = tap_of(2, 0, {}, Pattern::all(4, 9));
  tap.result.columns = {{KeyKind::Memory, 1},
                        {KeyKind::Slot, 0},
                        {KeyKind::Compressed, 2},
                        {KeyKind::Memory, 2},
                        {KeyKind::Token, 4}};
  const std::vector<SlotRun> runs = slot_runs(tap);
  ASSERT_EQ(runs.size(), 4u);  // without the empty run
  const Index first[] = {0, 1, 3, 5}, count[] = {1, 2, 2, 4};
  for (std::size_t n = 0; n < 4; ++n) {
    EXPECT_EQ(runs[n].first, first[n]);
    EXPECT_EQ(runs[n].count, count[n]);
  }
  EXPECT_EQ(runs[1].kind, KeyKind::Compressed);
  EXPECT_EQ(slot_count(tap, KeyKind::Memory), 3);
  EXPECT_EQ(slot_count(tap, KeyKind::Token), 4);
  EXPECT_EQ(slot_count(tap, KeyKind::Projected), 0);
  const Trace trace = segmented_trace();
  EXPECT_EQ(column_source(trace, tap, 5), RowSource{8});
  EXPECT_EQ(column_source(trace, tap, 8), RowSource{11});
  EXPECT_EQ(column_source(trace, tap, 4).first, -1);  // unknown
  tap.remembered = {{0}, {1, 2, 3}, {2, 2, 1}, {6}, {7}};
  for (Index c = 0; c < 5; ++c) {
    EXPECT_EQ(column_source(trace, tap, c), tap.remembered[static_cast<std::size_t>(c)]);
  }
  tap.remembered.pop_back();
  EXPECT_EQ(column_source(trace, tap, 0).first, -1);
  // Without kinds, all columns are tokens.
  const AttentionTap tap_without_kinds = tap_of(0, 0, {}, Pattern::all(4, 4));
  ASSERT_EQ(slot_runs(tap_without_kinds).size(), 1u);
  EXPECT_EQ(slot_runs(tap_without_kinds)[0].count, 4);
  EXPECT_EQ(column_source(trace, tap_without_kinds, 3), RowSource{3});
}

TEST(MemoryUse, DetectsMemory) {
  Trace trace = segmented_trace();
  EXPECT_TRUE(reads_in_segments(trace));
  EXPECT_FALSE(remembers(trace));
  trace.attention = {tap_of(0, 0, {}, Pattern::all(4, 4)), tap_of(0, 1, {}, Pattern::all(4, 4))};
  EXPECT_FALSE(remembers(trace));
  trace.attention[1].variant.id = "segment_memory";
  EXPECT_TRUE(remembers(trace));
  trace.parts.segment = false;
  EXPECT_FALSE(reads_in_segments(trace));
  EXPECT_FALSE(remembers(trace));
  trace.parts.segment = true;
  trace.config = std::make_shared<const ModelConfig>();
  EXPECT_FALSE(reads_in_segments(trace));
  trace.config = nullptr;
  EXPECT_FALSE(reads_in_segments(trace));
}

TEST(MemoryUse, ComputesMeansAndDeviationsOfColumns) {
  AttentionTap tap = tap_of(1, 0, {}, Pattern::all(4, 7));
  AttentionTap second_tap = tap;
  tap.result.attention = testing::random_tensor({2, 4, 7}, 3);
  second_tap.result.attention = testing::random_tensor({2, 4, 7}, 4);
  for (const Index head : {0, 1}) {
    double memory = 0, tokens = 0;
    for (Index i = 0; i < 4; ++i) {
      for (Index c = 0; c < 7; ++c) {
        (c < 3 ? memory : tokens) += static_cast<double>(tap.attention(head)(i, c));
      }
    }
    EXPECT_NEAR(kind_weight({&tap, head}, KeyKind::Memory), memory / 4, 1e-6);
    EXPECT_NEAR(kind_weight({&tap, head}, KeyKind::Token), tokens / 4, 1e-6);
    EXPECT_EQ(kind_weight({&tap, head}, KeyKind::Compressed), 0);
  }
  const std::vector<TapHead> heads{{&tap, 0}, {&tap, 1}, {&second_tap, 1}};
  const SlotWeights slots = slot_weights(heads);
  ASSERT_EQ(slots.mean.size(), 7u);
  for (Index c = 0; c < 7; ++c) {
    std::vector<double> weights;
    for (const TapHead& head : heads) {
      for (Index i = 0; i < 4; ++i) {
        weights.push_back(static_cast<double>(head.tap->attention(head.head)(i, c)));
      }
    }
    double mean = 0, variance = 0;
    for (const double x : weights) mean += x / 12;
    for (const double x : weights) variance += (x - mean) * (x - mean) / 12;
    EXPECT_NEAR(slots.mean[static_cast<std::size_t>(c)], mean, 1e-6);
    EXPECT_NEAR(slots.deviation[static_cast<std::size_t>(c)], std::sqrt(variance), 1e-6);
  }
  tap.result.attention = Tensor::full({2, 4, 7}, 0.1F);  // the deviation is 0 up to rounding
  for (const double deviation : slot_weights({{&tap, 0}}).deviation)
    EXPECT_NEAR(deviation, 0, 1e-6);
}

// Receptive fields token by token and layer by layer, from the allowed pairs.
TEST(MemoryUse, OldestReachableFollowsAllowedPairs) {
  Trace trace = segmented_trace();
  // Memory columns: several consecutive rows, every second row, or single rows.
  const std::vector<RowSource> second_sources{{1, 2, 1}, {3}},
      third_sources{{4, 3, 1}, {0, 2, 2}, {6}, {7}, {5}};
  const auto pattern = [](Index keys, int kind) {
    PatternBuilder builder(2, 4, keys, {"some"});
    for (Index head = 0; head < 2; ++head) {
      for (Index i = 0; i < 4; ++i) {
        const Index own_column = keys - 4 + i;
        builder.add(0, own_column, own_column + 1);
        if (kind == 0 && head == 1) builder.add(0, std::max<Index>(own_column - 2, 0), own_column);
        if (kind == 1 && head == 0) builder.add(0, own_column % 2, own_column, 2);
        if (kind == 2) builder.add(0, std::max<Index>(own_column - 4 - head, 0), own_column);
        builder.next_row();
      }
    }
    return builder.finish();
  };
  for (int shift = 0; shift < 3; ++shift) {
    trace.attention.clear();
    for (Index layer = 0; layer < 3; ++layer) {
      const int kind = static_cast<int>((layer + shift) % 3);
      trace.attention.push_back(tap_of(0, layer, {}, pattern(4, kind)));
      trace.attention.push_back(tap_of(1, layer, second_sources, pattern(6, kind)));
      trace.attention.push_back(tap_of(2, layer, third_sources, pattern(9, kind)));
    }
    for (Index segment = 0; segment < 3; ++segment) {
      std::vector<Index> below(12);
      for (Index n = 0; n < 12; ++n) below[static_cast<std::size_t>(n)] = n;
      std::vector<Index> expected;
      for (Index layer = 0; layer < 3; ++layer) {
        std::vector<Index> reach = below;
        for (const AttentionTap& tap : trace.attention) {
          if (tap.address.layer != layer || tap.address.segment > segment) continue;
          for (Index i = 0; i < 4; ++i) {
            Index& oldest = reach[static_cast<std::size_t>(4 * tap.address.segment + i)];
            for (Index c = 0; c < tap.keys(); ++c) {
              if (!tap.result.pattern->allowed(0, i, c) && !tap.result.pattern->allowed(1, i, c)) {
                continue;
              }
              const Index memory_columns = tap.keys() - 4;
              RowSource source{4 * tap.address.segment + c - memory_columns};
              if (c < memory_columns) source = tap.remembered[static_cast<std::size_t>(c)];
              for (Index n = 0; n < source.count; ++n) {
                const Index row = source.first + n * source.step;
                oldest = std::min(oldest, below[static_cast<std::size_t>(row)]);
              }
            }
          }
        }
        below = reach;
        expected.push_back(below[static_cast<std::size_t>(4 * segment + 3)]);
      }
      EXPECT_EQ(oldest_reachable(trace, segment), expected) << shift << " " << segment;
    }
  }
  // A text of two tokens.
  PatternBuilder builder(1, 2, 2, {"some"});
  builder.add(0, 0, 1);
  builder.next_row();
  builder.add(0, 0, 2);
  builder.next_row();
  Trace short_trace = trace;
  short_trace.tokens.resize(2);
  short_trace.attention = {tap_of(0, 0, {}, builder.finish())};
  EXPECT_EQ(oldest_reachable(short_trace, 0), (std::vector<Index>{0}));
  // Unknown columns are not reached.
  trace.attention = {tap_of(2, 0, {}, pattern(9, 2))};
  EXPECT_EQ(oldest_reachable(trace, 2), (std::vector<Index>{8}));
}

TEST(MemoryUse, CountsPairsWhileTheMemoryFills) {
  EXPECT_EQ(causal_pair_count(4), 10);
  const auto pairs = [](const std::string& json, Index segment, Index length) {
    return pairs_in_segments(variant_from_json(parse_json(json, "variant"), "variant"), segment,
                             length);
  };
  // Segments of 4, 4 and 2: 10 + 10 + 3 pairs within segments.
  EXPECT_EQ(pairs(R"({"type": "full"})", 4, 10), 23);
  EXPECT_EQ(pairs(R"({"type": "segment_memory"})", 4, 10), 23 + 4 * 4 + 2 * 4);
  EXPECT_EQ(pairs(R"({"type": "segment_memory", "memory": 3})", 4, 10), 23 + 4 * 3 + 2 * 3);
  EXPECT_EQ(pairs(R"({"type": "segment_memory", "memory": 6})", 4, 10), 23 + 4 * 4 + 2 * 6);
  EXPECT_EQ(pairs(R"({"type": "segment_memory", "memory": 6})", 4, 4), 10);
  // Each window of `rate` rows that leave the memory becomes one row; incomplete windows stay.
  EXPECT_EQ(pairs(R"({"type": "compressive", "memory": 3, "compressed": 2, "rate": 2})", 4, 18),
            43 + 4 * 4 + 4 * (4 + 2) + 4 * (4 + 2) + 2 * (4 + 2));
  EXPECT_EQ(pairs(R"({"type": "compressive", "memory": 3, "compressed": 5, "rate": 3})", 4, 18),
            43 + 4 * 4 + 4 * (5 + 1) + 4 * (3 + 3) + 2 * (4 + 4));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
