#include "core/analysis/cost.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

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
  EXPECT_EQ(cost.all_pairs, cost.pairs);
}

TEST(RunCost, KnowsWhatFullAttentionWouldTake) {
  PatternBuilder builder(1, 4, 4, {"own"});
  for (Index i = 0; i < 4; ++i) {
    builder.add_column(0, i);
    builder.next_row();
  }
  Trace trace;
  trace.attention.push_back(tap_of(builder.finish(), 2));
  const RunCost cost = run_cost(trace);
  EXPECT_EQ(cost.pairs, 8);
  EXPECT_EQ(cost.all_pairs, 20);  // causal, as the pattern is
}

TEST(RunCost, CountsSharedNumbersOnce) {
  Trace trace;
  trace.logits = Tensor::zeros({3, 5});
  trace.taps["a"] = Tensor::zeros({3, 2});
  trace.taps["b"] = trace.taps["a"];
  EXPECT_EQ(run_cost(trace).bytes, (15 + 6) * sizeof(float));
}

}  // namespace
}  // namespace attnscope
