#include "core/analysis/gates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/halting.h"
#include "core/analysis/sinks.h"
#include "core/model/architecture.h"
#include "core/part/part.h"
#include "tests/support/compare.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(GatesOf, SummarisesResidualGatesOverComponents) {
  Trace trace;
  trace.tokens = testing::synthetic_tokens(5);
  const auto add = [&](const char* name, Stack stack, Index step, Index layer, std::uint64_t seed) {
    Address address;
    address.stack = stack;
    address.step = step;
    address.layer = layer;
    trace.located.push_back({name, address, testing::random_tensor({5, 3}, seed)});
  };
  add("gate.attention", Stack::Decoder, 0, 1, 11);  // layers are not in order
  add("gate.attention", Stack::Encoder, 0, 0, 12);
  add("gate.attention", Stack::Decoder, 0, 0, 13);
  add("gate.feed_forward", Stack::Decoder, 2, 0, 14);
  add("other", Stack::Decoder, 0, 0, 15);
  EXPECT_TRUE(has_gates(trace));
  const std::vector<GateSet> sets = gates_of(trace, Stack::Decoder);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].id, "attention");
  EXPECT_EQ(sets[1].id, "feed_forward");
  ASSERT_EQ(sets[0].rows.size(), 2u);
  EXPECT_EQ(sets[0].rows[0].label(), "layer 0");
  EXPECT_EQ(sets[0].rows[1].label(), "layer 1");
  EXPECT_EQ(sets[0].components, 3);
  double expected_mean = 0;
  for (Index row = 0; row < 2; ++row) {
    const Tensor z = testing::random_tensor({5, 3}, row == 0 ? 13 : 11);
    double row_mean = 0;
    for (Index i = 0; i < 5; ++i) {
      double mean = 0, variance = 0;
      for (Index n = 0; n < 3; ++n) mean += static_cast<double>(z(i, n)) / 3;
      for (Index n = 0; n < 3; ++n) {
        variance += std::pow(static_cast<double>(z(i, n)) - mean, 2) / 3;
      }
      EXPECT_NEAR(sets[0].mean(row, i), mean, 1e-6);
      EXPECT_NEAR(sets[0].deviation(row, i), std::sqrt(variance), 1e-6);
      EXPECT_EQ(sets[0].least(row, i), std::min({z(i, 0), z(i, 1), z(i, 2)}));
      EXPECT_EQ(sets[0].most(row, i), std::max({z(i, 0), z(i, 1), z(i, 2)}));
      row_mean += mean / 5;
    }
    EXPECT_NEAR(sets[0].row_mean(row), row_mean, 1e-6);
    expected_mean += row_mean / 2;
  }
  EXPECT_NEAR(sets[0].overall_mean(), expected_mean, 1e-6);
  ASSERT_EQ(gates_of(trace, Stack::Encoder).size(), 1u);
  EXPECT_EQ(gates_of(trace, Stack::Encoder)[0].rows.size(), 1u);
  trace.parts.step = true;
  EXPECT_EQ(gates_of(trace, Stack::Decoder)[1].rows[0].label(), "step 2, layer 0");
  EXPECT_EQ((GateSet::Row{1, 0, -1, 3}).label(), "layer 1, head 0, expert 3");
  EXPECT_EQ(GateSet::Row{}.label(), "");
  // Equal values have deviation 0.
  trace.located = {{"gate.attention", {}, Tensor::full({5, 3}, 0.1F)}};
  EXPECT_NEAR(gates_of(trace, Stack::Decoder)[0].deviation(0, 0), 0, 1e-6);
}

TEST(GatesOf, HasARowPerExpert) {
  Trace trace;
  trace.tokens = testing::synthetic_tokens(4);
  const Tensor first = testing::random_tensor({4, 2}, 1),
               second = testing::random_tensor({4, 3}, 2);
  Address address;
  trace.located.push_back({"gate.experts", address, first});
  address.layer = 2;
  trace.located.push_back({"gate.experts", address, second});
  address.stack = Stack::Encoder;
  trace.located.push_back({"gate.experts", address, second});
  const std::vector<GateSet> sets = gates_of(trace, Stack::Decoder);
  ASSERT_EQ(sets.size(), 1u);
  ASSERT_EQ(sets[0].mean.shape(), (Shape{5, 4}));
  EXPECT_EQ(sets[0].rows[1].label(), "layer 0, expert 1");
  EXPECT_EQ(sets[0].rows[4].label(), "layer 2, expert 2");
  for (Index i = 0; i < 4; ++i) {
    for (Index e = 0; e < 5; ++e) {
      EXPECT_EQ(sets[0].mean(e, i), e < 2 ? first(i, e) : second(i, e - 2));
    }
  }
}

// The gate of a head is NaN while its memory is empty.
TEST(GatesOf, MemoryGateStartsWithTheFirstStoredRow) {
  Trace trace;
  trace.tokens = testing::synthetic_tokens(6);
  for (const Index segment : {0, 1}) {
    AttentionTap tap = testing::synthetic_tap(1, 2, Pattern::causal(3, segment == 0 ? 3 : 5, 0));
    tap.heads = {2, 3};
    tap.query_rows.first = tap.key_rows.first = 3 * segment;
    tap.address.segment = segment;
    if (segment == 1) tap.result.columns = {{KeyKind::Memory, 2}, {KeyKind::Token, 3}};
    tap.result.quantities["memorizing.gate"] = Var(Tensor::from({2}, {0.25F, 0.75F}));
    trace.attention.push_back(tap);
  }
  trace.attention.push_back(testing::synthetic_tap(0, 2, Pattern::causal(6, 6)));  // has no gate
  EXPECT_TRUE(has_gates(trace));
  const std::vector<GateSet> sets = gates_of(trace, Stack::Decoder);
  ASSERT_EQ(sets.size(), 1u);
  ASSERT_EQ(sets[0].rows.size(), 2u);
  EXPECT_EQ(sets[0].rows[1].label(), "layer 1, head 3");
  for (Index i = 0; i < 6; ++i) {
    for (Index row = 0; row < 2; ++row) {
      const float gate = sets[0].mean(row, i);
      if (i < 3) {
        EXPECT_TRUE(std::isnan(gate)) << i;
      } else {
        EXPECT_EQ(gate, row == 0 ? 0.25F : 0.75F);
      }
    }
  }
  EXPECT_EQ(sets[0].row_mean(0), 0.25);
  EXPECT_EQ(sets[0].row_mean(1), 0.75);
  EXPECT_EQ(sets[0].overall_mean(), 0.5);
  EXPECT_TRUE(gates_of(trace, Stack::Encoder).empty());
  trace.attention.pop_back();
  trace.attention.pop_back();
  EXPECT_TRUE(std::isnan(gates_of(trace, Stack::Decoder)[0].overall_mean()));
}

TEST(GatesOf, RetrievalGateIsUntrainedAtOneHalf) {
  Trace trace;
  trace.tokens = testing::synthetic_tokens(3);
  EXPECT_FALSE(has_gates(trace));
  EXPECT_FALSE(retrieval_gate_is_untrained(trace));
  EXPECT_TRUE(gates_of(trace, Stack::Decoder).empty());
  trace.taps["retrieval.gate"] = Tensor::from({3}, {0.5F, 0.5F, 0.5F});
  EXPECT_TRUE(has_gates(trace));
  EXPECT_TRUE(retrieval_gate_is_untrained(trace));
  ASSERT_EQ(gates_of(trace, Stack::Decoder).size(), 1u);
  EXPECT_TRUE(gates_of(trace, Stack::Decoder)[0].untrained);
  EXPECT_TRUE(gates_of(trace, Stack::Encoder).empty());
  trace.taps["retrieval.gate"] = Tensor::from({3}, {0.5F, 0.5F, 0.75F});
  EXPECT_FALSE(retrieval_gate_is_untrained(trace));
  const GateSet set = gates_of(trace, Stack::Decoder)[0];
  EXPECT_FALSE(set.untrained);
  EXPECT_EQ(set.rows[0].label(), "");
  EXPECT_EQ(set.mean(Index{0}, Index{2}), 0.75F);
}

// Ponder cost N + R of each token, and the tokens that halted by themselves.
TEST(Halting, CountsStepsAndRemainder) {
  Trace trace;
  EXPECT_FALSE(has_steps(trace));
  EXPECT_FALSE(halts(trace));
  ModelConfig config;
  config.architecture = {"universal", default_values(architecture("universal").parameters)};
  config.architecture.values.set("steps", Index{4});
  config.architecture.values.set("epsilon", 0.25);
  trace.config = std::make_shared<const ModelConfig>(config);
  trace.parts.step = true;
  trace.taps["halting.probability"] =
      Tensor::from({3, 3}, {0.75F, 0.5F, 0.25F, 0.125F, 0.25F, 0.25F, 1, 0.5F, 0.125F});
  trace.taps["halting.remainder"] = Tensor::from({3}, {0.25F, 0.25F, 0.375F});
  trace.counts["halting.steps"] = IntTensor::from({3}, {1, 2, 3});
  EXPECT_TRUE(has_steps(trace));
  EXPECT_TRUE(halts(trace));
  const HaltingRecord record = halting_of(trace);
  EXPECT_EQ(record.max_steps, 4);
  EXPECT_EQ(record.epsilon, 0.25);
  ASSERT_EQ(record.probability.shape(), (Shape{3, 4}));
  EXPECT_EQ(record.probability(Index{1}, Index{1}), 0.25F);
  EXPECT_EQ(record.probability(Index{2}, Index{0}), 0.25F);
  EXPECT_TRUE(std::isnan(record.probability(Index{0}, Index{1})));
  EXPECT_TRUE(std::isnan(record.probability(Index{2}, Index{3})));
  EXPECT_EQ(record.ponder(0), 1.25);
  EXPECT_EQ(record.ponder(2), 3.375);
  EXPECT_NEAR(record.ponder(), (1.25 + 2.25 + 3.375) / 3, 1e-12);
  EXPECT_EQ(record.mean_steps(), 2);
  EXPECT_TRUE(record.halted_by_itself(0));  // its probability is exactly 1 - epsilon
  EXPECT_TRUE(record.halted_by_itself(1));
  EXPECT_FALSE(record.halted_by_itself(2));
}

TEST(Sinks, WeightIsTheRemainderOfARow) {
  AttentionTap tap = testing::synthetic_tap(0, 2, Pattern::all(3, 3));
  EXPECT_EQ(sink_weight(tap), 0);
  EXPECT_EQ(sink_weight(tap, 0, 0), 0);
  Part part;
  tap.result.log_sum_exp = testing::random_tensor({2, 3}, 5);
  tap.vectors = AttentionVectors{.part = std::make_shared<const Part>(part)};
  EXPECT_EQ(sink_weight(tap), 0);
  EXPECT_EQ(sink_weight(tap, 1, 2), 0);
  part.sinks = Var(Tensor::from({2}, {-1, -2}));
  tap.vectors = AttentionVectors{.part = std::make_shared<const Part>(part)};
  double sum = 0;
  for (Index head = 0; head < 2; ++head) {
    for (Index i = 0; i < 3; ++i) {
      const double expected = std::exp((head == 0 ? -1.0 : -2.0) -
                                       static_cast<double>(tap.result.log_sum_exp(head, i)));
      EXPECT_NEAR(sink_weight(tap, head, i), expected, 1e-6);
      sum += expected;
    }
  }
  EXPECT_NEAR(sink_weight(tap), sum / 6, 1e-6);
  tap.result.log_sum_exp = {};
  EXPECT_EQ(sink_weight(tap, 0, 0), 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
