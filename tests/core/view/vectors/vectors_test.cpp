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
  std::string all;
  for (const Text& text : testing::texts(layout.list)) all += text.text + " ";
  return all.find(part) != std::string::npos;
}

TEST(Vectors, ShowNumbersOfSelectedPair) {
  for (const char* encoding :
       {"rope", "alibi", "none", R"({"type": "relative_factor", "clip": 3})"}) {
    const Trace trace = run_model({.encoding = encoding, .kv_heads = 1});
    LayoutOptions look;
    look.width = 1100;
    look.settings.head = 1;
    look.settings.pinned_query = 9;
    look.settings.pinned_key = 4;
    const ViewLayout layout = lay_out_view(trace, "vectors", look);
    const AttentionTap& tap = trace.attention[0];
    const auto pair = pair_score(*tap.result.part, 1, 9, 4);
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
  LayoutOptions look;
  look.settings = settings_with("vectors", R"({"before": true})");
  look.settings.pinned_query = 9;
  look.settings.pinned_key = 4;
  const AttentionTap& tap = trace.attention[0];
  double plain = 0;
  for (Index n = 0; n < 8; ++n) {
    plain += static_cast<double>(tap.input.q(0, 9, n)) * static_cast<double>(tap.input.k(0, 4, n));
  }
  EXPECT_TRUE(contains_text(lay_out_view(trace, "vectors", look), "q·k = " + fixed(plain, 3)));
}

TEST(Vectors, MiniatureMapSelectsPair) {
  const Trace trace = run_model({});
  LayoutOptions look;
  look.width = 1100;
  look.framed = false;
  const ViewLayout before = lay_out_view(trace, "vectors", look);
  ASSERT_EQ(before.handles.size(), 1u);
  const Box map = before.handles[0].area;
  look.pointer = Point{map.x + 2.5 * map.width / 12, map.y + 6.5 * map.height / 12};
  const ViewLayout hovered = lay_out_view(trace, "vectors", look);
  const std::optional<Hit> hit = hovered.hit(*look.pointer);
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
  LayoutOptions look;
  look.framed = false;
  look.width = 455;
  look.height = 290;  // as in a window of 1920 x 1080 at scale 2
  look.settings.pinned_query = 9;
  look.settings.pinned_key = 4;
  EXPECT_TRUE(contains_text(lay_out_view(trace, "vectors", look), "before the encoding"));
  const Part& part = *trace.attention[0].result.part;
  int seen = 0;
  for (Index n = 0; n < 8; ++n) {
    const auto number = static_cast<double>(part.q.value()(0, 9, n));
    const auto before = static_cast<double>(trace.attention[0].input.q(0, 9, n));
    const std::string expected = brief(number) + " (before: " + brief(before) + ")";
    for (double x = 5; x < look.width; x += 10) {
      look.pointer = Point{x, 90};  // in the first chart
      if (!contains_text(lay_out_view(trace, "vectors", look), expected)) continue;
      ++seen;
      break;
    }
  }
  EXPECT_EQ(seen, 8);
}

TEST(Vectors, SmallWindowSelectsPairOrExplains) {
  const Trace trace = run_model({});
  LayoutOptions look;
  look.framed = false;
  look.font_size = 14;
  look.width = 428;
  look.height = 290;
  const ViewLayout small = lay_out_view(trace, "vectors", look);
  EXPECT_EQ(small.handles.size(), 1u);
  EXPECT_EQ(testing::layout_error(small.list), "");
  for (const Text& text : testing::texts(small.list)) {
    EXPECT_EQ(text.text.find("…"), std::string::npos) << text.text;
  }
  look.width = 300;
  const ViewLayout narrow = lay_out_view(trace, "vectors", look);
  EXPECT_TRUE(narrow.handles.empty());
  EXPECT_TRUE(contains_text(narrow, "Pin a pair in Map"));
}

TEST(Vectors, MiniatureMapOfManyTokensStatesPooling) {
  LayoutOptions look;
  look.framed = false;
  look.width = 700;
  EXPECT_TRUE(
      contains_text(lay_out_view(run_model({.length = 290}), "vectors", look), "max-pooled"));
  EXPECT_FALSE(contains_text(lay_out_view(run_model({}), "vectors", look), "max-pooled"));
}

TEST(Vectors, ExplainMissingProduct) {
  EXPECT_NE(lay_out_view(testing::synthetic_trace(1, 1, 5), "vectors")
                .refusal.find("No query-key product"),
            std::string::npos);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
