#include <gtest/gtest.h>

#include <cmath>

#include "core/base/json.h"
#include "core/figure/plain_text.h"
#include "core/view/span/span_effect.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::run_model;
using testing::settings_with;

double mask(double z, double ramp, Index distance) {
  return std::clamp((ramp + z - static_cast<double>(distance)) / ramp, 0.0, 1.0);
}

TEST(Span, AttentionWithSpanIsRenormalised) {
  for (const char* encoding : {"rope", "alibi"}) {
    const Trace trace = run_model({.encoding = encoding, .kv_heads = 1});
    const AttentionTap& tap = trace.attention[1];
    const Tensor full = tap.attention(1);
    const HeadSpan span = fixed_span(3, 2.5, 12);
    const Tensor spanned = attention_with_span(tap, 1, span);
    double remaining = 0;
    for (Index i = 0; i < 12; ++i) {
      double sum = 0;
      for (Index j = 0; j <= i; ++j) sum += mask(3, 2.5, i - j) * static_cast<double>(full(i, j));
      remaining += sum / 12;
      for (Index j = 0; j < 12; ++j) {
        const double expected =
            j > i ? 0 : mask(3, 2.5, i - j) * static_cast<double>(full(i, j)) / sum;
        EXPECT_TRUE(std::abs(static_cast<double>(spanned(i, j)) - expected) <= 2e-5);
      }
    }
    EXPECT_TRUE(std::abs(kept_fraction(tap, 1, span) - remaining) <= 1e-5);
    EXPECT_TRUE(std::abs(kept_fraction(weight_by_distance(tap, 1), span) - remaining) <= 1e-5);
    EXPECT_TRUE(std::abs(kept_fraction(tap, 1, fixed_span(100, 1, 100)) - 1) <= 1e-6);
  }
}

constexpr const char* kSpans = R"({"type": "adaptive_span", "span": 8, "ramp": 3})";

TEST(Span, ShowsModelSpan) {
  const Trace trace = run_model({.variant = kSpans});
  const AttentionTap& tap = trace.attention[0];
  const HeadSpan span = head_span(*tap.part(), 1);
  EXPECT_EQ(span.mean(), static_cast<double>(tap.part()->span.value()[1]));
  const Tensor recomputed = attention_with_span(tap, 1, span);
  const Tensor recorded = tap.attention(1);
  for (Index n = 0; n < recorded.size(); ++n)
    EXPECT_TRUE(std::abs(recorded[n] - recomputed[n]) <= 1e-6F);
  EXPECT_EQ(lay_out_view(trace, "span").refusal, "");
}

std::string drawn_text(const Trace& trace, const LayoutOptions& options = {}) {
  std::string result;
  for (const Text& text : testing::texts(lay_out_view(trace, "span", options).list)) {
    result += text.text + "\n";
  }
  return result;
}

TEST(Span, OnlyTrainedSpanIsLabelledTrained) {
  Trace trace = run_model({.variant = kSpans});
  const std::string trained = drawn_text(trace);
  EXPECT_NE(trained.find("The spans are trained"), std::string::npos) << trained;
  EXPECT_EQ(trained.find("untrained"), std::string::npos) << trained;
  trace.untrained = {"layers.0.groups.0.span.z"};
  const std::string untrained = drawn_text(trace);
  EXPECT_EQ(untrained.find("the model's"), std::string::npos) << untrained;
  EXPECT_NE(untrained.find("untrained"), std::string::npos) << untrained;
  // Other layers have their own spans.
  trace.untrained = {"layers.1.groups.0.span.z"};
  EXPECT_EQ(drawn_text(trace), trained);
  trace.untrained = {"layers.0.groups.0.span.z"};
  LayoutOptions changed_options;
  changed_options.settings = settings_with("span", R"({"z": 6})");
  EXPECT_NE(drawn_text(trace, changed_options).find("the model has no spans"), std::string::npos);
}

// The ramp or the maximum span differs from the one with which z was trained.
TEST(Span, ChangedRampIsNotLabelledTrained) {
  Trace trace = run_model({.variant = kSpans});
  const auto trained = std::make_shared<ModelConfig>(*trace.config);
  trace.trained = trained;
  EXPECT_NE(drawn_text(trace).find("The spans are trained"), std::string::npos)
      << drawn_text(trace);
  for (const char* changed_variant : {R"({"type": "adaptive_span", "span": 9, "ramp": 3})",
                                      R"({"type": "adaptive_span", "span": 8, "ramp": 2})"}) {
    trained->groups = uniform_groups(
        *trained, variant_from_json(Json::parse(changed_variant), "variant"), default_encoding());
    const std::string text = drawn_text(trace);
    EXPECT_EQ(text.find("The spans are trained"), std::string::npos) << text;
    EXPECT_EQ(text.find("untrained"), std::string::npos) << text;
    EXPECT_NE(text.find("with another ramp"), std::string::npos) << text;
  }
}

// The first layers of both runs have equal weights and inputs, and differ only in the span.
TEST(Span, KeptFractionIsRelativeToFullAttention) {
  const Trace full = run_model({});
  const Trace spans = run_model({.variant = kSpans});
  const AttentionTap& tap = spans.attention[0];
  const Tensor without_span = attention_without_span(tap, 1);
  EXPECT_TRUE(testing::close(without_span, full.attention[0].attention(1), 1e-5));
  const HeadSpan span = head_span(*tap.part(), 1);
  const double z = span.mean();
  double remaining = 0;
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const double m = i - j > 8 ? 0 : mask(z, 3, i - j);
      remaining += m * static_cast<double>(without_span(i, j)) / 12;
    }
  }
  ASSERT_LT(remaining, 0.9);  // the span masks some weights
  EXPECT_TRUE(std::abs(kept_fraction(tap, 1, span) - remaining) <= 1e-5);
  // A larger span keeps more weight. A span as long as the text keeps all weight.
  EXPECT_GT(kept_fraction(tap, 1, fixed_span(8, 3, 8)), remaining + 0.01);
  EXPECT_TRUE(std::abs(kept_fraction(tap, 1, fixed_span(12, 3, 12)) - 1) <= 1e-5);
  const Tensor with_wide_span = attention_with_span(tap, 1, fixed_span(12, 3, 12));
  EXPECT_TRUE(testing::close(with_wide_span, without_span, 1e-5));
}

// z may exceed the maximum span, here 8, beyond which all keys are masked.
TEST(Span, MasksEndAtMaxSpan) {
  const Trace span_run = run_model({.variant = kSpans}), full_run = run_model({});
  const ViewSettings settings = settings_with("span", R"({"z": 10, "ramp": 4, "reach": 12})");
  const auto mask_values = [&](const Trace& trace) {
    const testing::ViewInputFixture fixture(trace, settings);
    for (const ViewData::Matrix& matrix : view("span").data(fixture.input).matrices) {
      if (matrix.name == "mask by distance") return matrix.values;
    }
    return Tensor();
  };
  const Tensor learned_masks = mask_values(span_run), applied_masks = mask_values(full_run);
  ASSERT_EQ(learned_masks.dim(1), 13);
  for (Index x = 0; x <= 12; ++x) {
    EXPECT_EQ(learned_masks(0, x), x <= 8 ? 1 : 0) << x;
    EXPECT_NEAR(applied_masks(0, x), mask(10, 4, x), 1e-6) << x;
  }
}

TEST(Span, DynamicSpansArePerQuery) {
  HeadSpan span{Tensor::from({1, 12}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), 1, 12};
  const Trace trace = run_model({});
  EXPECT_TRUE(std::abs(kept_fraction(trace.attention[0], 0, span) - 1) <= 1e-6);
  span.z[11] = 0;  // the last query attends only to itself
  const auto own_weight = static_cast<double>(trace.attention[0].attention(0)(11, 11));
  EXPECT_TRUE(std::abs(kept_fraction(trace.attention[0], 0, span) - (11 + own_weight) / 12) <=
              1e-6);
}

TEST(Span, ShowsQuartersExactly) {
  LayoutOptions options;
  options.settings = settings_with("span", R"({"z": 14.25, "ramp": 4})");
  std::string text_lines;
  for (const Text& text : testing::texts(lay_out_view(run_model({}), "span", options).list)) {
    text_lines += text.text + "\n";
  }
  EXPECT_NE(text_lines.find("z = 14.25, R = 4: layer 0"), std::string::npos) << text_lines;
  EXPECT_EQ(text_lines.find("14.2,"), std::string::npos) << text_lines;
}

TEST(Span, DraggingSetsSpanAndRamp) {
  const Trace trace = run_model({});
  LayoutOptions options;
  options.settings = settings_with("span", R"({"z": 6, "ramp": 4})");
  const ViewLayout layout = lay_out_view(trace, "span", options);
  ASSERT_EQ(layout.handles.size(), 2u + 4);  // two handles of the curve, four bars of heads
  Session session;
  session.view = options.settings;
  const auto centre = [](const Box& b) { return Point{b.x + b.width / 2, b.y + b.height / 2}; };
  const Point ramp = centre(layout.handles[0].area), z = centre(layout.handles[1].area);
  const double position_width = (ramp.x - z.x) / 4;  // pixels per position
  layout.handles[1].drag({z.x + 5 * position_width, z.y}, session);
  EXPECT_DOUBLE_EQ(view_values(session.view, "span").real("z"), 11);
  layout.handles[0].drag({ramp.x + 3 * position_width, ramp.y}, session);
  EXPECT_DOUBLE_EQ(view_values(session.view, "span").real("ramp"), 7);
  layout.handles[0].drag({0, ramp.y}, session);
  EXPECT_GT(view_values(session.view, "span").real("ramp"), 0);
}

bool contains_text(const ViewLayout& layout, const std::string& part) {
  std::string drawn_texts;
  for (const Text& text : testing::texts(layout.list)) drawn_texts += text.text + "\n";
  return drawn_texts.find(part) != std::string::npos;
}

TEST(Span, OmitsMapsBeforeCurvesAndBars) {
  const Trace trace = run_model({.length = 19});
  LayoutOptions options;
  options.framed = false;
  options.width = 455;
  options.height = 290;  // as in a window of 1920 x 1080 at scale 2
  const ViewLayout shrunk = lay_out_view(trace, "span", options);
  for (const char* part : {"m_z", "layer", "key (to) →", "not the model's"}) {
    EXPECT_TRUE(contains_text(shrunk, part)) << part;
  }
  EXPECT_FALSE(contains_text(shrunk, "Enlarge the window"));
  options.height = 150;
  const ViewLayout without_maps = lay_out_view(trace, "span", options);
  EXPECT_TRUE(contains_text(without_maps, "m_z"));
  EXPECT_TRUE(contains_text(without_maps, "Enlarge the window to see the maps of the attention"));
  EXPECT_EQ(without_maps.handles.size(), 2u + 4);  // two handles of the curve, four bars of heads
}

TEST(Span, ShowsMapOfManyHeadsInNarrowPictures) {
  const Trace trace = run_model({.length = 9, .layers = 48, .heads = 32, .kv_heads = 32});
  LayoutOptions options;
  options.width = 360;
  const std::vector<Text> drawn = testing::texts(lay_out_view(trace, "span", options).list);
  EXPECT_TRUE(std::ranges::any_of(drawn, [](const Text& text) { return text.text == "head"; }));
}

TEST(Span, ShowsMapInsteadOfThinBars) {
  const Trace trace = run_model({.length = 9, .layers = 30, .heads = 9, .kv_heads = 3});
  LayoutOptions options;
  for (const double width : {360.0, 720.0, 1000.0}) {
    options.width = width;
    const ViewLayout layout = lay_out_view(trace, "span", options);
    const std::vector<Text> drawn = testing::texts(layout.list);
    EXPECT_TRUE(std::ranges::any_of(drawn, [](const Text& text) { return text.text == "head"; }))
        << width;
    ASSERT_EQ(layout.handles.size(), 2u + 30 * 9) << width;
    Session session;
    layout.handles[2 + 12 * 9 + 7].click(session);
    EXPECT_EQ(session.view.layer, 12);
    EXPECT_EQ(session.view.head, 7);
    // The cell of the map has the value that the pointer reports.
    const Box cell = layout.handles[2 + 29 * 9 + 8].area;
    options.pointer = Point{cell.x + cell.width / 2, cell.y + cell.height / 2};
    const double kept = kept_fraction(trace.attention[29], 8, fixed_span(4, 4, 9));
    EXPECT_TRUE(contains_text(lay_out_view(trace, "span", options),
                              "layer 29, head 8: keeps " + percent(kept)))
        << width;
    options.pointer.reset();
  }
}

TEST(Span, PointerReportsNumbers) {
  const Trace trace = run_model({});
  LayoutOptions options;
  options.framed = false;
  options.settings = settings_with("span", R"({"z": 3, "ramp": 4})");
  const double remaining = kept_fraction(trace.attention[1], 1, fixed_span(3, 4, 12));
  bool is_bar_reported = false, is_curve_reported = false;
  for (double x = 5; x < options.width; x += 5) {
    options.pointer = Point{x, 150};
    const ViewLayout layout = lay_out_view(trace, "span", options);
    is_bar_reported = is_bar_reported || contains_text(layout, "layer 1, head 1: keeps " +
                                                                   fixed(100 * remaining, 0) + "%");
    is_curve_reported = is_curve_reported || contains_text(layout, "distance 5: 0.5");
  }
  EXPECT_TRUE(is_bar_reported);
  EXPECT_TRUE(is_curve_reported);
}

TEST(Span, ExplainsMissingSpan) {
  EXPECT_NE(lay_out_view(run_model({.causal = false}), "span").refusal.find("causal"),
            std::string::npos);
  EXPECT_NE(lay_out_view(testing::synthetic_trace(1, 1, 4), "span").refusal.find("No softmax"),
            std::string::npos);
}

// Dynamic spans are shown above the text, one per token.
TEST(Span, ShowsSpanOfEachTokenIfDynamic) {
  const Trace trace = run_model(
      {.variant = R"({"type": "adaptive_span", "span": 40, "ramp": 3, "dynamic": true})"});
  const Tensor z = trace.attention[0].part()->span.value();  // [h, L]
  ASSERT_EQ(z.rank(), 2);
  const std::string text = drawn_text(trace);
  EXPECT_NE(text.find("span of this head at each token"), std::string::npos) << text;
  EXPECT_NE(text.find("span z of each token"), std::string::npos) << text;
  const testing::ViewInputFixture fixture(trace, ViewSettings());
  bool has_z_by_token = false;
  for (const ViewData::Matrix& matrix : view("span").data(fixture.input).matrices) {
    if (matrix.name != "z by token") continue;
    has_z_by_token = true;
    EXPECT_TRUE(testing::close(matrix.values, z, 0));
  }
  EXPECT_TRUE(has_z_by_token);
  // A user-defined span is equal for all tokens.
  LayoutOptions changed_options;
  changed_options.settings = settings_with("span", R"({"z": 6})");
  EXPECT_EQ(drawn_text(trace, changed_options).find("from each token"), std::string::npos);
}

TEST(Span, ReportsSpanBeyondText) {
  const Trace trace = run_model({.variant = R"({"type": "adaptive_span", "span": 40, "ramp": 3})"});
  Index count_beyond = 0, count = 0;
  for (const AttentionTap& tap : trace.attention) {
    for (Index head = 0; head < 2; ++head, ++count) {
      if (head_span(*tap.part(), head).mean() > 11) ++count_beyond;
    }
  }
  ASSERT_GT(count_beyond, 0);
  const std::string text = drawn_text(trace);
  EXPECT_NE(text.find("end of this text: cuts off " + std::to_string(count_beyond) + " of " +
                      std::to_string(count)),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("of at most 40"), std::string::npos) << text;
  // A click on a bar selects its head.
  const ViewLayout layout = lay_out_view(trace, "span");
  Session session;
  std::vector<std::pair<Index, Index>> heads;
  for (const Handle& handle : layout.handles) {
    if (!handle.click) continue;
    handle.click(session);
    heads.emplace_back(session.view.layer, session.view.head);
  }
  EXPECT_EQ(heads, (std::vector<std::pair<Index, Index>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
