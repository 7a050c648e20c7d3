#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/view/lines/line_set.h"
#include "core/view/parts/legend.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::run_model;
using testing::settings_with;
using testing::synthetic_trace;

LineSet line_set_of(const Trace& trace, const ViewSettings& settings) {
  const testing::ViewInputFixture fixture(trace, settings);
  const AttentionTap& tap = *trace.find({settings.layer, settings.head});
  return line_set(fixture.input, tap, view_values(settings, "lines"),
                  visible_span(0, 0, tap.queries()), visible_span(0, 0, tap.keys()));
}

// Number of curves, which are lines of more than two points, with an opacity of at least
// `min_opacity`.
std::size_t curve_count(const DisplayList& list, int min_opacity = 0) {
  return static_cast<std::size_t>(
      std::count_if(list.items.begin(), list.items.end(), [&](const Item& item) {
        const Line* line = std::get_if<Line>(&item);
        return line && line->points.size() > 2 && line->colour.a >= min_opacity;
      }));
}

TEST(Lines, DrawWeightsOfRun) {
  const Trace trace = run_model({});
  const LineSet set = line_set_of(trace, settings_with("lines", R"({"least": 0.1, "all": true})"));
  EXPECT_EQ(set.heads, (std::vector<Index>{0, 1}));
  std::size_t expected = 0;
  for (Index head = 0; head < 2; ++head) {
    const Tensor weights = trace.attention[0].attention(head);
    for (const float w : weights) expected += w >= 0.1F ? 1 : 0;
  }
  EXPECT_EQ(set.pairs.size(), expected);
  for (const WeightedPair& pair : set.pairs) {
    EXPECT_FLOAT_EQ(static_cast<float>(pair.weight),
                    trace.attention[0].attention(pair.head)(pair.query, pair.key));
  }
  EXPECT_TRUE(std::is_sorted(set.pairs.begin(), set.pairs.end(),
                             [](const auto& a, const auto& b) { return a.weight < b.weight; }));
}

TEST(Lines, SelectHeadsByList) {
  const Trace trace = synthetic_trace(2, 4, 9);
  EXPECT_EQ(line_set_of(trace, settings_with("lines", R"({"heads": [3, 1]})")).heads,
            (std::vector<Index>{1, 3}));
  EXPECT_THROW(line_set_of(trace, settings_with("lines", R"({"heads": [3, 77]})")), InputError);
  ViewSettings settings = settings_with("lines", "{}");
  settings.head = 2;
  EXPECT_EQ(line_set_of(trace, settings).heads, (std::vector<Index>{2}));
}

TEST(Lines, KeepStrongestPairsOfLongTexts) {
  const LineSet set = line_set_of(synthetic_trace(1, 3, 300),
                                  settings_with("lines", R"({"least": 0, "all": true})"));
  EXPECT_EQ(set.pairs.size(), 2500u);
  EXPECT_EQ(set.omitted_count, 3 * 300 * 301 / 2 - 2500);
}

TEST(Lines, ExplainQueriesWithoutLine) {
  Trace trace = synthetic_trace(1, 1, 10);
  const auto contains_text = [&](const std::string& part) {
    const std::vector<Text> drawn_texts = testing::texts(lay_out_view(trace, "lines").list);
    return std::any_of(drawn_texts.begin(), drawn_texts.end(),
                       [&](const Text& t) { return t.text.find(part) != std::string::npos; });
  };
  EXPECT_FALSE(contains_text("queries have no line"));
  Tensor& weights = trace.attention[0].result.attention;
  weights = weights.copy();
  for (Index i = 7; i < 10; ++i) {
    for (Index c = 0; c < 10; ++c) weights(0, i, c) = 0.01F;
  }
  EXPECT_TRUE(contains_text("3 of 10 queries have no line: all their weights are below 0.03"));
}

TEST(Lines, PointingAtTokenDimsOtherLinesAndClickPinsIt) {
  const Trace trace = synthetic_trace(1, 2, 9);
  for (const char* style : {"lines", "arcs"}) {
    LayoutOptions options;
    options.framed = false;
    options.settings =
        settings_with("lines", std::string(R"({"least": 0.02, "style": ")") + style + "\"}");
    const ViewLayout unhovered = lay_out_view(trace, "lines", options);
    // The handles of the two heads precede the handles of the queries.
    ASSERT_GE(unhovered.handles.size(), 2u + 9u);
    const Box token = unhovered.handles[2 + 5].area;
    const Point pointer{token.x + token.width / 2, token.y + token.height / 2};
    const std::optional<Hit> hit = unhovered.hit(pointer);
    ASSERT_TRUE(hit.has_value());
    EXPECT_EQ(hit->query, 5);
    EXPECT_EQ(hit->key, -1);
    options.pointer = pointer;
    const ViewLayout hovered = lay_out_view(trace, "lines", options);
    EXPECT_EQ(curve_count(hovered.list), curve_count(unhovered.list));
    EXPECT_LT(curve_count(hovered.list, 16), curve_count(unhovered.list, 16));
    // A click pins the token, another click unpins it.
    Session session;
    session.view = options.settings;
    unhovered.handles[2 + 5].click(session);
    EXPECT_EQ(session.view.pinned_query, 5);
    unhovered.handles[2 + 5].click(session);
    EXPECT_EQ(session.view.pinned_query, -1);
    // A click on the swatch of a hidden head shows its lines.
    unhovered.handles[1].click(session);
    EXPECT_EQ(line_set_of(trace, session.view).heads, (std::vector<Index>{0, 1}));
    unhovered.handles[0].click(session);
  }
}

TEST(Lines, PointingAtCurveHitsItsPair) {
  const Trace trace = synthetic_trace(1, 1, 6);
  LayoutOptions options;
  options.framed = false;
  options.settings = settings_with("lines", R"({"least": 0.3})");
  const ViewLayout layout = lay_out_view(trace, "lines", options);
  const LineSet set = line_set_of(trace, options.settings);
  const WeightedPair& strongest = set.pairs.back();
  for (const Item& item : layout.list.items) {
    const Line* line = std::get_if<Line>(&item);
    if (!line || line->points.size() < 3) continue;
    const std::optional<Hit> hit = layout.hit(line->points[line->points.size() - 2]);
    ASSERT_TRUE(hit.has_value());
    EXPECT_GE(hit->query, 0);
    EXPECT_GE(hit->key, 0);
    EXPECT_GE(trace.attention[0].attention(0)(hit->query, hit->key), 0.3F);
  }
  EXPECT_GE(strongest.weight, 0.3);
}

TEST(Lines, AreLegibleAtAnyLength) {
  for (const Index length : {1, 10, 40, 200}) {
    const Trace trace = synthetic_trace(1, 3, length);
    for (const char* style : {"lines", "arcs"}) {
      LayoutOptions options;
      options.settings =
          settings_with("lines", std::string(R"({"all": true, "style": ")") + style + "\"}");
      const ViewLayout layout = lay_out_view(trace, "lines", options);
      EXPECT_EQ(layout.refusal, "") << length << style;
      EXPECT_EQ(testing::layout_error(layout.list), "") << length << style;
      options.settings.row = options.settings.column = 0.3 * static_cast<double>(length);
      options.settings.height = options.settings.width =
          std::min<double>(20, 0.5 + 0.3 * static_cast<double>(length));
      EXPECT_EQ(testing::layout_error(lay_out_view(trace, "lines", options).list), "")
          << length << style;
    }
  }
  LayoutOptions options;
  options.settings = settings_with("lines", R"({"style": "arcs"})");
  const Trace cross_attention = [] {
    Trace trace = synthetic_trace(1, 1, 8);
    trace.attention[0] = testing::synthetic_tap(0, 1, Pattern::all(8, 3));
    return trace;
  }();
  EXPECT_NE(lay_out_view(cross_attention, "lines", options).refusal.find("Arcs require"),
            std::string::npos);
}

TEST(Lines, LinesOfUnpinnedTokensAreFainter) {
  const Trace trace = synthetic_trace(1, 3, 20);
  for (const char* style : {"lines", "arcs"}) {
    LayoutOptions options;
    options.settings.pinned_query = 12;
    Values values = default_values(view("lines").options.parameters);
    values.set("style", std::string(style));
    values.set("all", true);
    set_view_values(options.settings, "lines", values);
    const ViewLayout layout = lay_out_view(trace, "lines", options);
    int faintest_focused = 255, strongest_unfocused = 0;
    std::size_t pinned_lines = 0;
    const LineSet set = line_set_of(trace, options.settings);
    for (const WeightedPair& pair : set.pairs) pinned_lines += pair.query == 12 ? 1 : 0;
    std::vector<int> opacities;
    for (const Item& item : layout.list.items) {
      const Line* line = std::get_if<Line>(&item);
      if (line && line->points.size() > 2) opacities.push_back(line->colour.a);
    }
    ASSERT_EQ(opacities.size(), set.pairs.size());
    ASSERT_GT(pinned_lines, 0u);  // lines of the pinned token are drawn last
    for (std::size_t i = 0; i < opacities.size(); ++i) {
      int& limit = i + pinned_lines < opacities.size() ? strongest_unfocused : faintest_focused;
      limit = i + pinned_lines < opacities.size() ? std::max(limit, opacities[i])
                                                  : std::min(limit, opacities[i]);
    }
    EXPECT_LT(strongest_unfocused, faintest_focused) << style;
  }
}

TEST(Lines, ArcsNameTheirDirections) {
  LayoutOptions options;
  options.settings = settings_with("lines", R"({"style": "arcs", "least": 0.9})");
  options.width = 900;
  const auto contains_text = [&](const Trace& trace, const std::string& part) {
    const std::vector<Text> drawn_texts =
        testing::texts(lay_out_view(trace, "lines", options).list);
    return std::any_of(drawn_texts.begin(), drawn_texts.end(),
                       [&](const Text& t) { return t.text.find(part) != std::string::npos; });
  };
  const Trace causal = synthetic_trace(1, 1, 20);
  EXPECT_TRUE(contains_text(causal, "backward"));
  EXPECT_FALSE(contains_text(causal, "forward"));
  EXPECT_TRUE(contains_text(causal, "queries have no arc: all their weights are below 0.9"));
  options.settings = settings_with("lines", R"({"style": "arcs", "least": 0})");
  EXPECT_TRUE(contains_text(synthetic_trace(Pattern::all(12, 12)), "forward"));
}

TEST(Lines, TitleListsRangesOfHeads) {
  const Trace trace = synthetic_trace(1, 12, 6);
  const auto title_of = [&](const std::string& heads) {
    LayoutOptions options;
    options.settings = settings_with("lines", R"({"heads": )" + heads + "}");
    return testing::texts(lay_out_view(trace, "lines", options).list).front().text;
  };
  const auto ends_with = [&](const std::string& heads, const std::string& end) {
    return title_of(heads).ends_with(end);
  };
  EXPECT_TRUE(ends_with("[4]", "head 4")) << title_of("[4]");
  EXPECT_TRUE(ends_with("[4, 5]", "heads 4, 5")) << title_of("[4, 5]");
  EXPECT_TRUE(ends_with("[0, 2, 3, 4, 11]", "heads 0, 2–4, 11")) << title_of("[0, 2, 3, 4, 11]");
}

// Colours of up to 32 heads of a layer differ.
TEST(Lines, HeadsOfWideLayersHaveDifferentColours) {
  for (Index a = 0; a < 32; ++a) {
    for (Index b = 0; b < a; ++b) {
      const Colour first = head_colour(a), second = head_colour(b);
      const bool is_same = first.r == second.r && first.g == second.g && first.b == second.b;
      EXPECT_FALSE(is_same) << a << ", " << b;
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
