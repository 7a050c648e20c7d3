#include <gtest/gtest.h>

#include "core/analysis/pair.h"
#include "core/figure/plain_text.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::run_model;
using testing::settings_with;

bool contains_text(const ViewLayout& layout, const std::string& part) {
  std::string drawn_text;
  for (const Text& text : testing::texts(layout.list)) drawn_text += text.text + " ";
  return drawn_text.find(part) != std::string::npos;
}

TEST(Vectors, NarrowPicturesOmitTheMap) {
  const Trace trace = run_model({});
  LayoutOptions options;
  for (const double width : {360.0, 720.0}) {
    options.width = width;
    const ViewLayout layout = lay_out_view(trace, "vectors", options);
    EXPECT_EQ(contains_text(layout, "the pair"), width > 500) << width;
    EXPECT_TRUE(contains_text(layout, "component")) << width;
  }
}

TEST(Vectors, ShowNumbersOfSelectedPair) {
  for (const char* encoding :
       {"rope", "alibi", "none", R"({"type": "relative_factor", "clip": 3})"}) {
    const Trace trace = run_model({.encoding = encoding, .kv_heads = 1});
    LayoutOptions options;
    options.width = 1100;
    options.settings.head = 1;
    options.settings.pinned_query = 9;
    options.settings.pinned_key = 4;
    const ViewLayout layout = lay_out_view(trace, "vectors", options);
    const AttentionTap& tap = trace.attention[0];
    const auto pair = pair_score(*tap.part(), 1, 9, 4);
    EXPECT_TRUE(contains_text(layout, "q·k = " + brief(pair->product))) << encoding;
    EXPECT_TRUE(contains_text(layout, "score " + brief(pair->score))) << encoding;
    EXPECT_TRUE(
        contains_text(layout, "weight " + brief(static_cast<double>(tap.attention(1)(9, 4)))));
    const std::optional<Hit> hit = layout.hit({100, 300});
    ASSERT_TRUE(hit.has_value());
    EXPECT_EQ(hit->query, 9);
    EXPECT_EQ(hit->key, 4);
  }
}

TEST(Vectors, ShowVectorsBeforeEncoding) {
  const Trace trace = run_model({});
  LayoutOptions options;
  options.settings = settings_with("vectors", R"({"before": true})");
  options.settings.pinned_query = 9;
  options.settings.pinned_key = 4;
  const AttentionTap& tap = trace.attention[0];
  double product = 0;
  for (Index n = 0; n < 8; ++n) {
    product +=
        static_cast<double>(tap.input().q(0, 9, n)) * static_cast<double>(tap.input().k(0, 4, n));
  }
  EXPECT_TRUE(contains_text(lay_out_view(trace, "vectors", options), "q·k = " + fixed(product, 3)));
}

TEST(Vectors, MiniatureMapSelectsPair) {
  const Trace trace = run_model({});
  LayoutOptions options;
  options.width = 1100;
  options.framed = false;
  const ViewLayout unhovered = lay_out_view(trace, "vectors", options);
  ASSERT_EQ(unhovered.handles.size(), 1u);
  const Box map = unhovered.handles[0].area;
  options.pointer = Point{map.x + 2.5 * map.width / 12, map.y + 6.5 * map.height / 12};
  const ViewLayout hovered = lay_out_view(trace, "vectors", options);
  const std::optional<Hit> hit = hovered.hit(*options.pointer);
  ASSERT_TRUE(hit.has_value());
  EXPECT_EQ(hit->query, 6);
  EXPECT_EQ(hit->key, 2);
  Session session;
  hovered.handles[0].click(session);
  EXPECT_EQ(session.view.pinned_query, 6);
  EXPECT_EQ(session.view.pinned_key, 2);
}

TEST(Vectors, PointerReportsComponent) {
  const Trace trace = run_model({});
  LayoutOptions options;
  options.framed = false;
  options.width = 455;
  options.height = 290;  // as in a window of 1920 x 1080 at scale 2
  options.settings.pinned_query = 9;
  options.settings.pinned_key = 4;
  EXPECT_TRUE(contains_text(lay_out_view(trace, "vectors", options), "before the encoding"));
  const Part& part = *trace.attention[0].part();
  int reported_count = 0;
  for (Index n = 0; n < 8; ++n) {
    const auto number = static_cast<double>(part.q.value()(0, 9, n));
    const auto unencoded = static_cast<double>(trace.attention[0].input().q(0, 9, n));
    const std::string expected = brief(number) + " (before: " + brief(unencoded) + ")";
    for (double x = 5; x < options.width; x += 10) {
      options.pointer = Point{x, 90};  // in the first chart
      if (!contains_text(lay_out_view(trace, "vectors", options), expected)) continue;
      ++reported_count;
      break;
    }
  }
  EXPECT_EQ(reported_count, 8);
}

TEST(Vectors, SmallWindowSelectsPairOrExplains) {
  const Trace trace = run_model({});
  LayoutOptions options;
  options.framed = false;
  options.font_size = 14;
  options.width = 428;
  options.height = 290;
  const ViewLayout with_map = lay_out_view(trace, "vectors", options);
  EXPECT_EQ(with_map.handles.size(), 1u);
  EXPECT_EQ(testing::layout_error(with_map.list), "");
  for (const Text& text : testing::texts(with_map.list)) {
    EXPECT_EQ(text.text.find("…"), std::string::npos) << text.text;
  }
  options.width = 300;
  const ViewLayout without_map = lay_out_view(trace, "vectors", options);
  EXPECT_TRUE(without_map.handles.empty());
  EXPECT_TRUE(contains_text(without_map, "Pin a pair in Map"));
}

TEST(Vectors, MiniatureMapOfManyTokensStatesPooling) {
  LayoutOptions options;
  options.framed = false;
  options.width = 700;
  EXPECT_TRUE(
      contains_text(lay_out_view(run_model({.length = 290}), "vectors", options), "max-pooled"));
  EXPECT_FALSE(contains_text(lay_out_view(run_model({}), "vectors", options), "max-pooled"));
}

TEST(Vectors, ExplainMissingProduct) {
  EXPECT_NE(lay_out_view(testing::synthetic_trace(1, 1, 5), "vectors")
                .refusal.find("No query-key product"),
            std::string::npos);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
