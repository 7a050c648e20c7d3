#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/divergence.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::lay_out_view;
using testing::LayoutOptions;

constexpr Index kLength = 13;

Trace run_variant(const std::string& variant, bool causal = true, const char* encoding = "none") {
  return testing::run_model(
      {.variant = variant, .encoding = encoding, .length = kLength, .causal = causal});
}

std::vector<ViewData::Matrix> exported_matrices(const Trace& trace, Index head) {
  ViewSettings settings = testing::settings_with("mechanism", R"({"picture": "approximation"})");
  settings.head = head;
  const testing::ViewInputFixture fixture(trace, settings);
  return view("mechanism").data(fixture.input).matrices;
}

// Matrix [rows, columns] of one head.
Tensor head_slice(const Tensor& planes, Index head) {
  const Tensor plane = planes.slice(head, 1);
  return plane.reshaped({plane.dim(1), plane.dim(2)});
}

// softmax(q k^T / sqrt(d)) over the allowed keys, in double precision.
Tensor plain_softmax(const AttentionTap& tap, Index head, bool causal) {
  const Index d = tap.input().q.dim(2);
  Tensor weights = Tensor::zeros({kLength, kLength});
  for (Index i = 0; i < kLength; ++i) {
    double sum = 0;
    std::vector<double> row(kLength, 0);
    for (Index j = 0; j < (causal ? i + 1 : kLength); ++j) {
      double product = 0;
      for (Index c = 0; c < d; ++c) {
        product += static_cast<double>(tap.input().q(head, i, c)) *
                   static_cast<double>(tap.input().k(head, j, c));
      }
      row[static_cast<std::size_t>(j)] = std::exp(product / std::sqrt(static_cast<double>(d)));
      sum += row[static_cast<std::size_t>(j)];
    }
    for (Index j = 0; j < kLength; ++j) {
      weights(i, j) = static_cast<float>(row[static_cast<std::size_t>(j)] / sum);
    }
  }
  return weights;
}

TEST(ApproximationMechanism, MapsMatchTrace) {
  for (const char* variant :
       {R"({"type": "performer", "features": 16})", R"({"type": "rfa", "features": 32})"}) {
    const Trace trace = run_variant(variant);
    const AttentionTap& tap = trace.attention[0];
    const auto matrices = exported_matrices(trace, 1);
    ASSERT_GE(matrices.size(), 3u);
    EXPECT_TRUE(close(matrices[0].values, head_slice(tap.result.extra.at("exact"), 1), 0));
    EXPECT_TRUE(close(matrices[1].values, tap.attention(1), 0));
    const Tensor differences = difference(matrices[0].values, matrices[1].values);
    EXPECT_TRUE(close(matrices[2].values, differences, 0));
  }
}

// If a variant reports no softmax, the view computes one from the variant's queries and keys.
TEST(ApproximationMechanism, ComputesUnreportedSoftmax) {
  const Trace linear = run_variant("linear"),
              linformer = run_variant(R"({"type": "linformer", "k": 4})", false);
  for (const Index head : {0, 1}) {
    EXPECT_TRUE(close(exported_matrices(linear, head)[0].values,
                      plain_softmax(linear.attention[0], head, true), 1e-5));
    EXPECT_TRUE(close(exported_matrices(linformer, head)[0].values,
                      plain_softmax(linformer.attention[0], head, false), 1e-5));
  }
  // With a rotary encoding, the computed softmax matches full attention with that encoding.
  const Trace rotated = run_variant("linear", true, "rope"),
              full = run_variant("full", true, "rope");
  EXPECT_TRUE(close(exported_matrices(rotated, 1)[0].values, full.attention[0].attention(1), 1e-5));
}

TEST(ApproximationMechanism, RowDivergencesMatchDefinition) {
  const Trace trace = run_variant(R"({"type": "performer", "features": 16})");
  const auto matrices = exported_matrices(trace, 0);
  ASSERT_GE(matrices.size(), 4u);
  const std::vector<double> expected =
      row_divergences(matrices[0].values, matrices[1].values, Divergence::KullbackLeibler);
  for (Index i = 0; i < kLength; ++i) {
    const auto actual = static_cast<double>(matrices[3].values(0, i));
    const double expected_bits = expected[static_cast<std::size_t>(i)];
    EXPECT_TRUE(std::abs(actual - expected_bits) <= 1e-5 * std::max(1.0, expected_bits)) << i;
  }
}

// Weights on slots become weights on tokens through the weights with which slots gather tokens.
TEST(ApproximationMechanism, SlotWeightsMapToTokens) {
  for (const char* mode : {"projection", "mean", "convolution"}) {
    const Trace trace = run_variant(
        std::string(R"({"type": "linformer", "k": 4, "mode": ")") + mode + "\"}", false);
    const AttentionTap& tap = trace.attention[0];
    const auto matrices = exported_matrices(trace, 1);
    const ViewData::Matrix& slots = matrices.back();
    ASSERT_EQ(slots.name, "slot");
    ASSERT_EQ(slots.values.shape(), (Shape{4, kLength}));
    EXPECT_TRUE(close(matrices[1].values, head_slice(tap.result.extra.at("implied"), 1), 0));
    // Scores of a query with the gathered keys match the scores of the variant.
    const Tensor& q = tap.input().q;
    for (Index i = 0; i < kLength; ++i) {
      std::vector<double> scores(4, 0);
      double sum = 0;
      for (Index slot = 0; slot < 4; ++slot) {
        for (Index j = 0; j < kLength; ++j) {
          for (Index c = 0; c < q.dim(2); ++c) {
            scores[static_cast<std::size_t>(slot)] += static_cast<double>(slots.values(slot, j)) *
                                                      static_cast<double>(q(1, i, c)) *
                                                      static_cast<double>(tap.input().k(1, j, c)) /
                                                      std::sqrt(static_cast<double>(q.dim(2)));
          }
        }
        sum += std::exp(scores[static_cast<std::size_t>(slot)]);
      }
      for (Index slot = 0; slot < 4; ++slot) {
        const double expected = std::exp(scores[static_cast<std::size_t>(slot)]) / sum;
        const auto actual = static_cast<double>(tap.attention(1)(i, slot));
        EXPECT_TRUE(std::abs(actual - expected) <= 1e-5) << mode << " " << i << " " << slot;
      }
    }
  }
}

TEST(ApproximationMechanism, FeaturesMatchKeys) {
  const Trace trace = run_variant("linear");
  const AttentionTap& tap = trace.attention[0];
  const ViewData::Matrix features = exported_matrices(trace, 1).back();
  ASSERT_EQ(features.name, "feature");
  for (Index j = 0; j < kLength; ++j) {
    for (Index c = 0; c < features.values.dim(0); ++c) {
      const auto k = static_cast<double>(tap.input().k(1, j, c));
      const double expected = k > 0 ? k + 1 : std::exp(k);
      EXPECT_TRUE(std::abs(static_cast<double>(features.values(c, j)) - expected) <= 1e-5);
    }
  }
}

// Negative weights have no KL divergence from a softmax; the picture reports negative weights.
TEST(ApproximationMechanism, SignedWeightsHaveNoDivergence) {
  // With few features, some seeds produce negative weights.
  const auto has_negative_weight = [](const Trace& trace) {
    return std::ranges::any_of(trace.attention[0].attention(0), [](float x) { return x < 0; });
  };
  Trace trace;
  for (int seed = 0; seed < 20 && (seed == 0 || !has_negative_weight(trace)); ++seed) {
    trace = run_variant(R"({"type": "rfa", "features": 2, "sigma": 0.1, "seed": )" +
                        std::to_string(seed) + "}");
  }
  ASSERT_TRUE(has_negative_weight(trace));
  for (const ViewData::Matrix& m : exported_matrices(trace, 0))
    EXPECT_FALSE(m.name.starts_with("KL"));
  LayoutOptions options;
  options.width = 1000;
  options.height = 800;
  bool is_shown = false;
  for (const Text& text : testing::texts(lay_out_view(trace, "mechanism", options).list)) {
    is_shown = is_shown || text.text.find("negative") != std::string::npos;
    EXPECT_FALSE(text.text.starts_with("KL"));
  }
  EXPECT_TRUE(is_shown);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
