#include "core/analysis/recurrence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/compare.h"
#include "tests/support/model_trace.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kLength = 13;

constexpr const char* kRotated = R"({"type": "linear", "rotation": "after"})";

Trace trace_of(const char* variant, bool causal = true, Index kv_heads = 2) {
  return testing::run_model({.variant = variant,
                             .encoding = variant == kRotated ? "rope" : "none",
                             .length = kLength,
                             .kv_heads = kv_heads,
                             .causal = causal});
}

Tensor row_of(const Tensor& rows, Index head, Index t) {
  Tensor row({rows.dim(2)});
  for (Index i = 0; i < rows.dim(2); ++i) row[i] = rows(head, t, i);
  return row;
}

// The recurrent form reproduces the output and weights of the operation.
TEST(Recurrence, MatchesOutputsAndWeightsOfTheOperation) {
  for (const char* variant :
       {R"({"type": "linear"})", kRotated, R"({"type": "rfa", "features": 9})",
        R"({"type": "rfa", "features": 9, "gate": true})",
        R"({"type": "performer", "features": 12})",
        R"({"type": "performer", "features": 40, "kind": "trig"})"}) {
    for (const Index kv_heads : {1, 2}) {
      const Trace trace = trace_of(variant, true, kv_heads);
      for (const AttentionTap& tap : trace.attention) {
        ASSERT_EQ(recurrence_refusal(tap), "") << variant;
        for (const Index head : {0, 1}) {
          const Recurrence recurrence = recurrence_of(tap, head);
          EXPECT_EQ(recurrence.gates.empty(),
                    std::string(variant).find("gate") == std::string::npos);
          const Tensor weights = tap.attention(head);
          for (Index t = 0; t < kLength; ++t) {
            const RecurrentStep step = recurrent_step(recurrence, t);
            EXPECT_TRUE(testing::close(step.output, row_of(tap.output(), head, t), 2e-4))
                << variant << " " << t;
            ASSERT_EQ(step.weights.size(), static_cast<std::size_t>(t) + 1);
            for (Index j = 0; j <= t; ++j) {
              const double weight = step.weights[static_cast<std::size_t>(j)];
              const double expected = static_cast<double>(weights(t, j));
              EXPECT_TRUE(std::abs(weight - expected) <= 2e-4 * std::max(1.0, std::abs(expected)))
                  << variant << " " << t << " " << j << ": " << weight << ", " << expected;
            }
          }
        }
      }
    }
  }
}

TEST(Recurrence, LastStateMatchesTheReportedState) {
  for (const char* variant : {"linear", kRotated, R"({"type": "rfa", "features": 9, "gate": true})",
                              R"({"type": "performer", "features": 12})"}) {
    const Trace trace = trace_of(variant);
    const AttentionTap& tap = trace.attention[1];
    const Tensor& state = tap.result.extra.at("state");
    for (const Index head : {0, 1}) {
      const RecurrentStep step = recurrent_step(recurrence_of(tap, head), kLength - 1);
      const Tensor expected = state.slice(head, 1).reshaped({state.dim(1), state.dim(2)});
      EXPECT_TRUE(testing::close(step.after, expected, 1e-4)) << variant;
    }
  }
}

// Recurrences of channels reproduce outputs and mean weights of the operation.
TEST(Recurrence, MatchesChannelsOfTheOperation) {
  for (const char* variant : {R"({"type": "rwkv"})", R"({"type": "rwkv", "shift": false})",
                              R"({"type": "mamba", "states": 5})"}) {
    for (const Index kv_heads : {1, 2}) {
      const Trace trace = trace_of(variant, true, kv_heads);
      for (const AttentionTap& tap : trace.attention) {
        ASSERT_EQ(recurrence_refusal(tap), "") << variant;
        const Recurrence recurrence = recurrence_of(tap, 1);
        ASSERT_EQ(recurrence.channel_means.size(), static_cast<std::size_t>(kLength));
        const Tensor weights = tap.attention(1);
        for (Index t = 0; t < kLength; ++t) {
          const RecurrentStep step = recurrent_step(recurrence, t);
          EXPECT_TRUE(testing::close(step.output, row_of(tap.output(), 1, t), 1e-5))
              << variant << " " << t;
          for (Index n = 0; n < step.after.size(); ++n) {
            EXPECT_TRUE(std::abs(step.before[n] + step.added[n] - step.after[n]) <= 1e-5F);
          }
          for (Index j = 0; j <= t; ++j) {
            const double weight = step.weights[static_cast<std::size_t>(j)];
            EXPECT_TRUE(std::abs(weight - static_cast<double>(weights(t, j))) <= 1e-5)
                << variant << " " << t << " " << j;
          }
        }
      }
    }
  }
}

// The state of the next token begins with this token's state, decayed.
TEST(Recurrence, SelectiveStateDecaysBetweenTokens) {
  const Recurrence r = recurrence_of(trace_of(R"({"type": "mamba", "states": 5})").attention[0], 0);
  for (Index t = 1; t < kLength; ++t) {
    const RecurrentStep previous = recurrent_step(r, t - 1), current = recurrent_step(r, t);
    for (Index n = 0; n < r.k.dim(1); ++n) {
      for (Index c = 0; c < r.v.dim(1); ++c) {
        const double decay = std::exp(static_cast<double>(r.delta(t, c) * r.rates(c, n)));
        const double expected = decay * static_cast<double>(previous.after(n, c));
        EXPECT_TRUE(std::abs(static_cast<double>(current.before(n, c)) - expected) <= 1e-6);
        const double added = static_cast<double>(r.delta(t, c) * r.k(t, n) * r.v(t, c));
        EXPECT_TRUE(std::abs(static_cast<double>(current.added(n, c)) - added) <= 1e-6);
      }
    }
  }
}

// S_t = g_t S_{t-1} + (1 - g_t) φ(k_t) ⊗ v_t, from the equation.
TEST(Recurrence, StepsFollowTheEquation) {
  const Trace trace = trace_of(R"({"type": "rfa", "features": 5, "gate": true})");
  const Recurrence r = recurrence_of(trace.attention[0], 1);
  ASSERT_EQ(r.gates.size(), static_cast<std::size_t>(kLength));
  for (Index t = 1; t < kLength; ++t) {
    const RecurrentStep previous = recurrent_step(r, t - 1), current = recurrent_step(r, t);
    const double g = r.gates[static_cast<std::size_t>(t)];
    for (Index i = 0; i < r.k.dim(1); ++i) {
      for (Index c = 0; c < r.v.dim(1); ++c) {
        const double added =
            (1 - g) * static_cast<double>(r.k(t, i)) * static_cast<double>(r.v(t, c));
        EXPECT_TRUE(std::abs(static_cast<double>(current.added(i, c)) - added) <= 1e-6);
        const double decayed = g * static_cast<double>(previous.after(i, c));
        EXPECT_TRUE(std::abs(static_cast<double>(current.before(i, c)) - decayed) <= 1e-6);
        EXPECT_TRUE(std::abs(static_cast<double>(current.after(i, c)) - decayed - added) <= 1e-6);
      }
    }
  }
}

TEST(Recurrence, ReportsRefusals) {
  EXPECT_NE(recurrence_refusal(trace_of("full").attention[0]).find("no features"),
            std::string::npos);
  EXPECT_NE(recurrence_refusal(trace_of("linear", false).attention[0]).find("causal"),
            std::string::npos);
  EXPECT_THROW(recurrence_of(trace_of("full").attention[0], 0), std::logic_error);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
