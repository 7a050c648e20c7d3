#include "core/analysis/cost.h"

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

AttentionTap tap_of(Pattern pattern, Index heads) {
  AttentionTap tap;
  tap.heads.resize(static_cast<std::size_t>(heads));
  tap.result.pattern = std::make_shared<const Pattern>(std::move(pattern));
  return tap;
}

TEST(RunCost, CountsPairsOfAllHeads) {
  Trace trace;
  trace.attention.push_back(tap_of(Pattern::causal(5, 5), 3));
  trace.attention.push_back(tap_of(Pattern::all(4, 6), 2));
  const RunCost cost = run_cost(trace);
  EXPECT_EQ(cost.pairs, 3 * 15 + 2 * 24);
  EXPECT_EQ(cost.products, 3 * 15 + 2 * 24);
  EXPECT_EQ(cost.full, 3 * 15 + 2 * 24);
}

TEST(RunCost, ReportsCostOfFullAttention) {
  PatternBuilder builder(1, 4, 4, {"own"});
  for (Index i = 0; i < 4; ++i) {
    builder.add_column(0, i);
    builder.next_row();
  }
  Trace trace;
  trace.attention.push_back(tap_of(builder.finish(), 2));
  const RunCost cost = run_cost(trace);
  EXPECT_EQ(cost.pairs, 8);
  EXPECT_EQ(cost.products, 8);
  EXPECT_EQ(cost.full, 20);  // causal, as the pattern is
}

// Counts queries, keys, values, output and one number per pair, but no arrays stored for
// inspection.
TEST(RunCost, AttentionMemoryIsProportionalToPairs) {
  const auto bytes_of = [](const Json& json) {
    OperationInput in;
    in.heads = in.kv_heads = in.layer_heads = 2;
    in.q = testing::random_tensor({2, 16, 4}, 1);
    in.k = testing::random_tensor({2, 16, 4}, 2);
    in.v = testing::random_tensor({2, 16, 3}, 3);
    in.variant = variant_from_json(json, "variant");
    in.causal = true;
    AttentionTap tap;
    tap.heads = {0, 1};
    tap.variant = in.variant;
    tap.record({in.q.value(), in.k.value()},
               evaluate(in, cpu_backend(), {.output = true, .attention = true}));
    Trace trace;
    trace.attention.push_back(std::move(tap));
    return run_cost(trace).attention_bytes;
  };
  const double rows = 2 * 16 * (4 + 4 + 3 + 3);
  EXPECT_EQ(bytes_of({{"type", "full"}}), 4 * (rows + 2 * 136));
  EXPECT_EQ(bytes_of({{"type", "local"}, {"window", 1}}), 4 * (rows + 2 * 31));
}

// One head of 16 queries and keys of size 4, values of size 3.
HeadCost cost_of(const Json& json, bool causal = false) {
  const Choice choice = variant_from_json(json, "variant");
  OperationInput in;
  in.q = testing::random_tensor({1, 16, 4}, 1);
  in.k = testing::random_tensor({1, 16, 4}, 2);
  in.v = testing::random_tensor({1, 16, 3}, 3);
  in.variant = choice;
  in.causal = causal;
  Dimensions sizes{.heads = 1, .kv_heads = 1, .key = 4, .value = 3, .context = 16};
  sizes.memory = 5;
  for (const WeightInfo& entry : variant(choice.id).weights) {
    if (!variant(choice.id).uses(entry, choice.values)) continue;
    in.weights[entry.name] = testing::random_tensor(entry.shape(sizes, choice.values), 4);
  }
  AttentionTap tap;
  tap.heads = {0};
  tap.variant = choice;
  tap.record({in.q.value(), in.k.value()},
             evaluate(in, cpu_backend(), {.output = true, .attention = true}));
  return head_cost(tap, 0);
}

TEST(HeadCost, DependsOnTheMechanism) {
  EXPECT_EQ(cost_of({{"type", "full"}}).products, 256);
  EXPECT_EQ(cost_of({{"type", "full"}}, true).products, 136);
  EXPECT_EQ(cost_of({{"type", "full"}}, true).full, 136);
  const HeadCost local = cost_of({{"type", "local"}, {"window", 1}});
  EXPECT_EQ(local.products, 16 + 2 * 15);
  EXPECT_EQ(local.full, 256);

  // Instead of 16 keys, the 16 queries see k rows (Linformer), ceil(L / stride) rows
  // (memory-compressed) or two blocks (Sinkhorn).
  for (const Json& json : {Json{{"type", "linformer"}, {"k", 4}},
                           Json{{"type", "memory_compressed"}, {"stride", 4}}}) {
    EXPECT_EQ(cost_of(json).products, 16 * 4) << json;
    EXPECT_EQ(cost_of(json).full, 256) << json;
  }
  const HeadCost sinkhorn = cost_of({{"type", "sinkhorn"}, {"block", 2}, {"iterations", 3}});
  EXPECT_EQ(sinkhorn.products, 16 * 2 * 2);
  EXPECT_EQ(sinkhorn.full, 256);

  // Multiply-adds of features, sums and products, divided by the multiply-adds of a pair.
  EXPECT_NEAR(cost_of({{"type", "linear"}}).products, 32.0 * 4 * 4 / 7, 1e-9);
  EXPECT_NEAR(cost_of({{"type", "performer"}, {"features", 10}}).products,
              32.0 * (10 * 4 + 10 * 4) / 7, 1e-9);
  EXPECT_NEAR(cost_of({{"type", "rfa"}, {"features", 10}}, true).products,
              32.0 * (20 * 4 + 10 * 4) / 7, 1e-9);
  EXPECT_EQ(cost_of({{"type", "linear"}}, true).full, 136);

  const HeadCost routing = cost_of({{"type", "routing"}, {"clusters", 1}});
  EXPECT_EQ(routing.products, 256 + 32);
  const HeadCost hopfield = cost_of({{"type", "hopfield"}, {"steps", 3}, {"tolerance", 0}}, true);
  EXPECT_EQ(hopfield.products, 3 * 136);
  // The search covers all 5 stored keys, although only the top 2 are used.
  EXPECT_EQ(cost_of({{"type", "memorizing"}, {"top", 2}}).products, 136 + 16 * 5);
}

TEST(RunCost, CountsSharedNumbersOnce) {
  Trace trace;
  trace.logits = Tensor::zeros({3, 5});
  trace.taps["a"] = Tensor::zeros({3, 2});
  trace.taps["b"] = trace.taps["a"];
  EXPECT_EQ(run_cost(trace).bytes, (15 + 6) * sizeof(float));
}

// Pairs that the pattern does not determine are given by a mask per head.
TEST(HeadCost, CountsPairsOfAMask) {
  AttentionTap tap = tap_of(Pattern::all(3, 5), 2);
  tap.result.mask = ByteTensor::zeros({2, 3, 5});
  const auto allow = [&](Index head, Index i, Index c) { tap.result.mask(head, i, c) = 1; };
  for (const auto& [i, c] : {std::pair<Index, Index>{0, 0}, {0, 2}, {1, 3}, {2, 4}}) {
    allow(0, i, c);
    allow(1, i, c);
  }
  allow(1, 1, 4);  // later than the query, which is at column 3
  EXPECT_EQ(head_cost(tap, 0).products, 4);
  EXPECT_TRUE(head_cost(tap, 0).causal);
  EXPECT_EQ(head_cost(tap, 0).full, 3 * 5 - 3);
  EXPECT_EQ(head_cost(tap, 1).products, 5);
  EXPECT_FALSE(head_cost(tap, 1).causal);
  EXPECT_EQ(head_cost(tap, 1).full, 15);
}

// Causal if no key of any query is later. A single query, or fewer keys than queries, does not
// count as causal.
TEST(HeadCost, DetectsCausalPatterns) {
  EXPECT_TRUE(head_cost(tap_of(Pattern::causal(4, 6, 2), 1), 0).causal);
  EXPECT_EQ(head_cost(tap_of(Pattern::causal(4, 6, 2), 1), 0).full, 24 - 6);
  EXPECT_FALSE(head_cost(tap_of(Pattern::causal(1, 1), 1), 0).causal);
  EXPECT_TRUE(head_cost(tap_of(Pattern::causal(2, 2), 1), 0).causal);
  EXPECT_FALSE(head_cost(tap_of(Pattern::all(3, 2), 1), 0).causal);
  for (const Index step : {1, 2}) {
    PatternBuilder builder(2, 5, 5, {"some"});
    for (const bool ahead : {false, true}) {
      for (Index i = 0; i < 5; ++i) {
        builder.add(0, i % step, i + (ahead && i == 2 ? step + 1 : 1), step);
        builder.next_row();
      }
    }
    const AttentionTap tap = tap_of(builder.finish(), 2);
    EXPECT_TRUE(head_cost(tap, 0).causal) << step;
    EXPECT_FALSE(head_cost(tap, 1).causal) << step;
    EXPECT_EQ(head_cost(tap, 0).products, step == 1 ? 15 : 9);
    EXPECT_EQ(head_cost(tap, 1).products, step == 1 ? 16 : 10);
  }
}

TEST(RunCost, CountsAllStoredArrays) {
  Trace trace;
  AttentionTap tap = tap_of(Pattern::all(3, 5), 2);
  tap.variant = default_variant();
  tap.result.attention = Tensor::zeros({2, 3, 5});
  tap.result.scores = Tensor::zeros({2, 3, 5});
  tap.result.log_sum_exp = Tensor::zeros({2, 3});
  tap.result.mask = ByteTensor::full({2, 3, 5}, 1);
  tap.result.extra["exact"] = Tensor::zeros({11});
  tap.result.extra_counts["steps"] = IntTensor({13});
  AttentionVectors vectors{
      .input = {Tensor::zeros({2, 3, 4}), Tensor::zeros({1, 5, 4}), Tensor::zeros({1, 5, 7})},
      .output = Tensor::zeros({2, 3, 7})};
  tap.vectors = vectors;
  trace.attention = {tap, tap};  // two taps share their arrays
  vectors.input.q = Tensor::zeros({2, 3, 4});
  trace.attention[1].vectors = vectors;
  trace.taps["a"] = Tensor::zeros({17});
  trace.logits = Tensor::zeros({19});
  const std::size_t floats = 30 + 30 + 6 + 42 + 11 + 24 + 20 + 35 + 24 + 17 + 19;
  const RunCost cost = run_cost(trace);
  EXPECT_EQ(cost.bytes, 4 * (floats + 13) + 30);
  // Queries, keys, values (as many as keys), output and one number per pair, for both taps.
  EXPECT_EQ(cost.attention_bytes, 2 * 4 * (24 + 20 + 5 * 7 + 42 + 2 * 15));
  AttentionTap without_pattern = tap;
  without_pattern.result.pattern = nullptr;
  trace.attention = {without_pattern};
  EXPECT_EQ(run_cost(trace).pairs, 0);
  EXPECT_EQ(run_cost(trace).attention_bytes, 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
