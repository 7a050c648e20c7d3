#include <gtest/gtest.h>

#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/span_effect.h"
#include "tests/core/view/model_trace.h"
#include "tests/core/view/synthetic.h"

namespace attnscope {
namespace {

using testing::Look;
using testing::look_at;
using testing::run_model;
using testing::settings_with;

double mask(double z, double ramp, Index distance) {
  return std::clamp((ramp + z - static_cast<double>(distance)) / ramp, 0.0, 1.0);
}

TEST(Span, AttentionWithASpanIsScaledAnew) {
  for (const char* encoding : {"rope", "alibi"}) {
    const Trace trace = run_model({.encoding = encoding, .kv_heads = 1});
    const AttentionTap& tap = trace.attention[1];
    const Tensor plain = tap.attention(1);
    const Tensor spanned = attention_with_span(*tap.result.part, 1, 3, 2.5, 12);
    double kept = 0;
    for (Index i = 0; i < 12; ++i) {
      double sum = 0;
      for (Index j = 0; j <= i; ++j) sum += mask(3, 2.5, i - j) * static_cast<double>(plain(i, j));
      kept += sum / 12;
      for (Index j = 0; j < 12; ++j) {
        const double expected =
            j > i ? 0 : mask(3, 2.5, i - j) * static_cast<double>(plain(i, j)) / sum;
        EXPECT_TRUE(std::abs(static_cast<double>(spanned(i, j)) - expected) <= 2e-5);
      }
    }
    EXPECT_TRUE(std::abs(share_kept(tap, 1, 3, 2.5) - kept) <= 1e-5);
    EXPECT_TRUE(std::abs(share_kept(tap, 1, 100, 1) - 1) <= 1e-6);
  }
}

TEST(Span, OfTheModelWhereItHasOne) {
  const Trace trace = run_model({.variant = R"({"type": "adaptive_span", "span": 8, "ramp": 3})"});
  const AttentionTap& tap = trace.attention[0];
  EXPECT_EQ(span_of_head(*tap.result.part, 1, -1),
            static_cast<double>(tap.result.part->span.value()[1]));
  const Tensor same =
      attention_with_span(*tap.result.part, 1, span_of_head(*tap.result.part, 1, -1), 3, 8);
  const Tensor own = tap.attention(1);
  for (Index n = 0; n < own.size(); ++n) EXPECT_TRUE(std::abs(own[n] - same[n]) <= 1e-6F);
  EXPECT_EQ(look_at(trace, "span").refusal, "");
}

TEST(Span, DraggingSetsSpanAndRamp) {
  const Trace trace = run_model({});
  Look look;
  look.settings = settings_with("span", R"({"z": 6, "ramp": 4})");
  const ViewLayout layout = look_at(trace, "span", look);
  ASSERT_EQ(layout.handles.size(), 2u);
  Experiment experiment;
  experiment.view = look.settings;
  const auto middle = [](const Box& b) { return Point{b.x + b.width / 2, b.y + b.height / 2}; };
  const Point ramp = middle(layout.handles[0].area), z = middle(layout.handles[1].area);
  const double position = (ramp.x - z.x) / 4;  // pixels of one
  layout.handles[1].drag({z.x + 5 * position, z.y}, experiment);
  EXPECT_DOUBLE_EQ(view_values(experiment.view, "span").real("z"), 11);
  layout.handles[0].drag({ramp.x + 3 * position, ramp.y}, experiment);
  EXPECT_DOUBLE_EQ(view_values(experiment.view, "span").real("ramp"), 7);
  layout.handles[0].drag({0, ramp.y}, experiment);
  EXPECT_GT(view_values(experiment.view, "span").real("ramp"), 0);
}

bool says(const ViewLayout& layout, const std::string& part) {
  std::string all;
  for (const Text& text : testing::texts(layout.list)) all += text.text + "\n";
  return all.find(part) != std::string::npos;
}

TEST(Span, CurveAndBarsStayLongerThanMaps) {
  const Trace trace = run_model({.length = 19});
  Look look;
  look.framed = false;
  look.width = 455;
  look.height = 290;  // a window of 1920 x 1080 at scale 2 leaves as much
  const ViewLayout low = look_at(trace, "span", look);
  for (const char* part : {"m_z", "layer", "key (to) →", "not the model's"}) {
    EXPECT_TRUE(says(low, part)) << part;
  }
  EXPECT_FALSE(says(low, "make the window larger"));
  look.height = 150;
  const ViewLayout lower = look_at(trace, "span", look);
  EXPECT_TRUE(says(lower, "m_z"));
  EXPECT_TRUE(says(lower, "Maps of the attention: make the window larger"));
  EXPECT_EQ(lower.handles.size(), 2u);
}

TEST(Span, NumbersOfWhatIsPointedAt) {
  const Trace trace = run_model({});
  Look look;
  look.framed = false;
  look.settings = settings_with("span", R"({"z": 3, "ramp": 4})");
  const double kept = share_kept(trace.attention[1], 1, 3, 4);
  bool bar = false, curve = false;
  for (double x = 5; x < look.width; x += 5) {
    look.pointer = Point{x, 150};
    const ViewLayout layout = look_at(trace, "span", look);
    bar = bar || says(layout, "layer 1, head 1: " + brief(kept));
    curve = curve || says(layout, "distance 5: 0.5");
  }
  EXPECT_TRUE(bar);
  EXPECT_TRUE(curve);
}

TEST(Span, SaysWhereThereCanBeNone) {
  EXPECT_NE(look_at(run_model({.causal = false}), "span").refusal.find("look back"),
            std::string::npos);
  EXPECT_NE(look_at(testing::synthetic_trace(1, 1, 4), "span").refusal.find("No softmax"),
            std::string::npos);
}

}  // namespace
}  // namespace attnscope
