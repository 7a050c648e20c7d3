#include "core/analysis/settling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/compare.h"
#include "tests/support/model_trace.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kLength = 11;

Trace run_hopfield(const char* options = "", bool causal = true, Index kv_heads = 2) {
  return testing::run_model(
      {.variant = std::string(R"({"type": "hopfield", "steps": 6)") + options + "}",
       .encoding = "none",
       .length = kLength,
       .kv_heads = kv_heads,
       .causal = causal});
}

// The weights of the last step equal the map's, and the number of steps equals the operation's.
TEST(Settling, EndsAtTheResultOfTheOperation) {
  for (const char* options : {"", R"(, "beta": 2)", R"(, "tolerance": 0.05)", R"(, "beta": -1)"}) {
    for (const bool causal : {true, false}) {
      const Trace trace = run_hopfield(options, causal, causal ? 1 : 2);
      const AttentionTap& tap = trace.attention[1];
      const IntTensor& steps = tap.result.extra_counts.at("hopfield.steps");
      for (const Index head : {0, 1}) {
        const Tensor weights = tap.attention(head);
        for (Index i = 0; i < kLength; ++i) {
          const Settling s = settling_of(tap, head, i);
          ASSERT_EQ(s.steps(), steps(head, i));
          ASSERT_EQ(s.states.dim(0), s.steps() + 1);
          EXPECT_EQ(static_cast<Index>(s.keys.size()), causal ? i + 1 : kLength);
          for (Index j = 0; j < kLength; ++j) {
            EXPECT_TRUE(std::abs(s.weights(s.steps() - 1, j) - weights(i, j)) <= 1e-5)
                << options << " " << i << " " << j;
          }
          EXPECT_TRUE(s.weights(s.steps() - 1, s.nearest) >= s.weights(s.steps() - 1, 0));
        }
      }
    }
  }
}

// The energy E, from its equation, never increases.
TEST(Settling, EnergyDecreases) {
  const Trace trace = run_hopfield(R"(, "beta": 1.5)");
  for (Index i = 0; i < kLength; ++i) {
    const Settling s = settling_of(trace.attention[0], 1, i);
    ASSERT_EQ(s.energy.size(), static_cast<std::size_t>(s.steps()) + 1);
    for (std::size_t t = 0; t < s.energy.size(); ++t) {
      double sum = 0, square = 0;
      for (Index n = 0; n < s.patterns.dim(0); ++n) {
        double product = 0;
        for (Index c = 0; c < s.patterns.dim(1); ++c) {
          product += static_cast<double>(s.patterns(n, c)) *
                     static_cast<double>(s.states(static_cast<Index>(t), c));
        }
        sum += std::exp(1.5 * product);
      }
      for (Index c = 0; c < s.patterns.dim(1); ++c) {
        square += std::pow(static_cast<double>(s.states(static_cast<Index>(t), c)), 2);
      }
      EXPECT_TRUE(std::abs(s.energy[t] - (square / 2 - std::log(sum) / 1.5)) <= 1e-4);
      if (t > 0) {
        EXPECT_TRUE(s.energy[t] <= s.energy[t - 1] + 1e-12) << i << " " << t;
      }
    }
  }
  EXPECT_TRUE(settling_of(run_hopfield(R"(, "beta": -1)").attention[0], 0, 3).energy.empty());
}

TEST(Settling, ReportsRefusals) {
  const Trace trace = testing::run_model({.variant = "full", .length = 4});
  EXPECT_NE(settling_refusal(trace.attention[0]), "");
  EXPECT_THROW(settling_of(trace.attention[0], 0, 0), std::logic_error);
}

// Points in a plane keep their distances.
TEST(Plane, PreservesPlanarPoints) {
  Tensor rows({5, 4});
  const double angle = std::numbers::pi / 5;
  const double points[5][2] = {{0, 0}, {3, 1}, {-2, 0.5}, {1, -1}, {5, 2}};
  for (Index n = 0; n < 5; ++n) {
    rows(n, 0) = static_cast<float>(points[n][0] * std::cos(angle));
    rows(n, 1) = static_cast<float>(points[n][1]);
    rows(n, 2) = static_cast<float>(points[n][0] * std::sin(angle));
    rows(n, 3) = 7;
  }
  const Plane plane(rows);
  EXPECT_TRUE(std::abs(plane.explained_fraction() - 1) <= 1e-6);
  const auto places = plane.project(rows);
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b < 5; ++b) {
      const double distance =
          std::hypot(places[a].first - places[b].first, places[a].second - places[b].second);
      const double expected = std::hypot(points[a][0] - points[b][0], points[a][1] - points[b][1]);
      EXPECT_TRUE(std::abs(distance - expected) <= 1e-5);
    }
  }
}

TEST(Plane, AcceptsRowsWithoutDirections) {
  const Plane point(Tensor::full({3, 1}, 2));
  EXPECT_EQ(point.explained_fraction(), 1);
  const auto places = point.project(Tensor::full({1, 1}, 2));
  EXPECT_EQ(places[0].first, 0);
  EXPECT_EQ(places[0].second, 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
