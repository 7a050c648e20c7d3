#include "core/analysis/error_study.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/softmax_weights.h"
#include "core/base/stop.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kLength = 24, kWidth = 16;

Trace trace_of(const std::string& variant, bool causal = true, const char* encoding = "none") {
  return testing::run_model(
      {.variant = variant, .encoding = encoding, .length = kLength, .causal = causal});
}

ErrorStudy run_study(const Trace& trace, Index head = 0) {
  return error_study(trace.attention[0], head, kWidth, [](std::size_t, std::size_t) {});
}

double relative_error(const Tensor& exact, const Tensor& weights) {
  double error = 0, norm = 0;  // squared norms
  for (Index i = 0; i < exact.size(); ++i) {
    const auto weight = static_cast<double>(exact[i]);
    error +=
        (weight - static_cast<double>(weights[i])) * (weight - static_cast<double>(weights[i]));
    norm += weight * weight;
  }
  return std::sqrt(error / norm);
}

// The head's error is within the range of errors at the head's number of features. The range
// includes seed 0.
TEST(ErrorStudy, ContainsTheHeadsOwnError) {
  for (const auto& [variant, encoding] :
       {std::pair{R"({"type": "performer", "features": 32})", "rope"},
        {R"({"type": "performer", "features": 64, "kind": "trig"})", "none"},
        {R"({"type": "performer", "features": 16, "orthogonal": false})", "learned"},
        {R"({"type": "rfa", "features": 32})", "rope"},
        {R"({"type": "rfa", "features": 32, "sigma": 2})", "none"}}) {
    const Trace trace = trace_of(variant, true, encoding);
    const AttentionTap& tap = trace.attention[0];
    for (const Index head : {0, 1}) {
      const double head_error =
          relative_error(softmax_weights(tap, head, kWidth), tap.attention(head));
      const ErrorStudy study = run_study(trace, head);
      EXPECT_EQ(study.used_size, tap.variant.values.integer("features"));
      const auto size_index = std::ranges::find(study.sizes, study.used_size) - study.sizes.begin();
      const auto curve = std::ranges::find(study.curves, true, &ErrorCurve::is_own);
      ASSERT_NE(curve, study.curves.end()) << variant;
      const ErrorSpread& spread = curve->errors[static_cast<std::size_t>(size_index)];
      EXPECT_TRUE(head_error >= spread.min - 1e-5 && head_error <= spread.max + 1e-5)
          << variant << " " << encoding << " " << head << ": " << head_error << " in " << spread.min
          << " .. " << spread.max;
    }
  }
}

// More features reduce the error, as in the paper.
TEST(ErrorStudy, PerformerErrorDecreasesWithFeatures) {
  const ErrorStudy study = run_study(trace_of(R"({"type": "performer", "features": 32})"));
  ASSERT_EQ(study.curves.size(), 4u);
  const auto last = study.sizes.size() - 1;
  for (const ErrorCurve& curve : study.curves) {
    ASSERT_EQ(curve.errors.size(), study.sizes.size());
    EXPECT_TRUE(curve.errors[last].median < curve.errors[0].median) << curve.label;
    for (const ErrorSpread& error : curve.errors) {
      EXPECT_TRUE(error.min <= error.median && error.median <= error.max) << curve.label;
    }
  }
  EXPECT_TRUE(study.curves[0].errors[last].median < 0.3);
}

// Errors of window means match a naive sum, and none is below the error of the best approximation
// of equal rank.
TEST(ErrorStudy, LinformerIsNoBetterThanTheBestOfItsRank) {
  const Trace trace = trace_of(R"({"type": "linformer", "k": 4, "mode": "mean"})", false);
  const AttentionTap& tap = trace.attention[0];
  const ErrorStudy study = run_study(trace, 1);
  ASSERT_EQ(study.curves.size(), 2u);
  EXPECT_EQ(study.sizes, (std::vector<Index>{1, 2, 4, 8, 16}));
  const Tensor& implied = tap.result.extra.at("implied");
  const double head_error =
      relative_error(softmax_weights(tap, 1, kWidth),
                     implied.slice(1, 1).reshaped({implied.dim(1), implied.dim(2)}));
  EXPECT_TRUE(std::abs(study.curves[0].errors[2].median - head_error) <= 1e-5);
  for (std::size_t n = 0; n < study.sizes.size(); ++n) {
    EXPECT_TRUE(study.curves[1].errors[n].median <= study.curves[0].errors[n].median + 1e-6);
    if (n > 0) {
      EXPECT_TRUE(study.curves[1].errors[n].median <= study.curves[1].errors[n - 1].median);
    }
  }
}

// The squared singular values sum to the squared weights.
TEST(ErrorStudy, SingularValuesSumToTheWholeMap) {
  const Trace trace = trace_of(R"({"type": "performer", "features": 8})");
  const ErrorStudy study = run_study(trace);
  ASSERT_EQ(study.singular_values.size(), static_cast<std::size_t>(kLength));
  double squares = 0, weights = 0;
  for (const double value : study.singular_values) squares += value * value;
  for (const float w : softmax_weights(trace.attention[0], 0, kWidth)) {
    weights += static_cast<double>(w) * static_cast<double>(w);
  }
  EXPECT_TRUE(std::abs(squares - weights) <= 1e-4 * weights);
  EXPECT_EQ(study.explained_by(0), 0);
  EXPECT_TRUE(std::abs(study.explained_by(kLength) - 1) <= 1e-12);
  EXPECT_TRUE(std::abs(study.explained_by(1) -
                       study.singular_values[0] * study.singular_values[0] / squares) <= 1e-9);
}

TEST(ErrorStudy, CanBeCancelledAndReportsRefusals) {
  const Trace trace = trace_of(R"({"type": "performer", "features": 8})");
  {
    const Stop stop;
    stop.request();
    const StopScope scope(stop);
    EXPECT_THROW(error_study(trace.attention[0], 0, kWidth, [](std::size_t, std::size_t) {}),
                 Stopped);
  }
  const Trace full = trace_of("full");
  EXPECT_NE(error_study_refusal(full.attention[0]), "");
  EXPECT_THROW(run_study(full), std::logic_error);
}

// Singular values are expensive, so the numbers of queries and keys are limited.
TEST(ErrorStudy, RejectsLongTexts) {
  const auto refusal = [](Index queries, Index keys) {
    AttentionTap tap;
    tap.variant = {"performer", default_values(variant("performer").parameters)};
    tap.result.pattern = std::make_shared<const Pattern>(Pattern::all(queries, keys));
    tap.vectors =
        AttentionVectors{.input = {Tensor::zeros({1, queries, 1}), Tensor::zeros({1, keys, 1})}};
    return error_study_refusal(tap);
  };
  EXPECT_EQ(refusal(1024, 1024), "");
  EXPECT_NE(refusal(1025, 1024).find("at most 1024 tokens"), std::string::npos);
  EXPECT_NE(refusal(1024, 1025).find("at most 1024 tokens"), std::string::npos);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
