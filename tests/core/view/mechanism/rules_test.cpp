#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::shows_text;

LayoutOptions options_for_pair(Index query, Index key) {
  LayoutOptions options;
  options.settings.pinned_query = query;
  options.settings.pinned_key = key;
  return options;
}

// Cells of both token lines: keys, then queries.
std::vector<Tensor> line_cells(const DisplayList& list) {
  std::vector<Tensor> lines;
  for (const Item& item : list.items) {
    const auto* cells = std::get_if<HeatMap>(&item);
    if (cells != nullptr && cells->values.dim(0) == 1) lines.push_back(cells->values);
  }
  return lines;
}

TEST(RulesMechanism, SummaryConsistsOfWholeSentences) {
  const Trace trace = testing::run_model({});
  for (const double width : {360.0, 450.0, 720.0}) {
    LayoutOptions options;
    options.width = width;
    options.height = 1000;
    const DisplayList list = lay_out_view(trace, "mechanism", options).list;
    EXPECT_TRUE(shows_text(list, "Every token compares its query")) << width;
    EXPECT_FALSE(shows_text(list, "…")) << width;
  }
}

// On a stage of 1920 x 1080, lines above the map would leave little space for the map.
TEST(RulesMechanism, MapIsBesideLinesInLowPictures) {
  const Trace trace = testing::run_model({.length = 24});
  for (const auto& [width, height] : {std::pair{760.0, 430.0}, {900.0, 360.0}, {720.0, 1000.0}}) {
    LayoutOptions options;
    options.width = width;
    options.height = height;
    const DisplayList list = lay_out_view(trace, "mechanism", options).list;
    EXPECT_EQ(testing::layout_error(list), "") << width;
    double side = 0;  // of the map
    for (const Item& item : list.items) {
      const auto* map = std::get_if<HeatMap>(&item);
      if (map != nullptr && map->values.defined() && map->values.dim(0) == 24) {
        side = std::max(side, std::min(map->box.width, map->box.height));
      }
    }
    EXPECT_GE(side, 14 * options.font_size) << width << " x " << height;
    for (const char* number : {"1", "2", "3"}) EXPECT_TRUE(shows_text(list, number)) << width;
  }
}

TEST(RulesMechanism, TokensHaveRuleColours) {
  const Index length = 16;
  const Trace trace = testing::synthetic_trace(testing::window_and_global(length, 2, 1));
  const Pattern& pattern = *trace.attention[0].result.pattern;
  for (const auto& [query, key] : {std::pair<Index, Index>{9, 4}, {0, 15}, {15, 0}}) {
    const std::vector<Tensor> lines =
        line_cells(lay_out_view(trace, "mechanism", options_for_pair(query, key)).list);
    ASSERT_EQ(lines.size(), 2u);
    const auto matches_rule = [](float actual, int rule) {
      return rule < 0 ? std::isnan(actual) : actual == static_cast<float>(rule);
    };
    for (Index n = 0; n < length; ++n) {
      EXPECT_TRUE(matches_rule(lines[0][n], pattern.rule(0, query, n))) << query << " " << n;
      EXPECT_TRUE(matches_rule(lines[1][n], pattern.rule(0, n, key))) << n << " " << key;
    }
  }
}

TEST(RulesMechanism, CountsAndNamesTheRules) {
  // Query 9 sees the window 7 to 11 and the global key 0. Key 4 is seen by queries 2 to 6 and 0.
  const Trace trace = testing::synthetic_trace(testing::window_and_global(16, 2, 1));
  const DisplayList list = lay_out_view(trace, "mechanism", options_for_pair(9, 4)).list;
  EXPECT_TRUE(shows_text(list, "6 of 16 keys"));
  EXPECT_TRUE(shows_text(list, "6 of 16 queries"));
  EXPECT_TRUE(shows_text(list, "window"));
  EXPECT_TRUE(shows_text(list, "global"));
  EXPECT_TRUE(shows_text(list, "not allowed"));
}

TEST(RulesMechanism, ReportsParametersOfVariant) {
  const Trace trace = testing::run_model({.variant = R"({"type": "local", "window": 3})"});
  EXPECT_TRUE(shows_text(lay_out_view(trace, "mechanism").list, "Window w = 3"));
}

// Brackets below the keys show the parameters of each rule.
TEST(RulesMechanism, BracketsReportParameters) {
  const std::map<std::string, std::vector<std::string>> expected{
      {R"({"type": "local", "window": 3})", {"window 3 back"}},
      {R"({"type": "local", "window": 3, "dilation": 2})", {"every 2nd, 6 back"}},
      {R"({"type": "strided", "stride": 4, "mode": "merged"})", {"4 back", "every 4th"}},
      {R"({"type": "fixed", "stride": 4, "summary": 1, "mode": "merged"})",
       {"block of 4", "last of a block"}},
      {R"({"type": "block_local", "block": 5})", {"block of 5"}},
      {R"({"type": "longformer", "window": 2, "global": [0]})", {"window 2 back", "global key"}},
      {R"({"type": "bigbird", "block": 2, "window_blocks": 3, "global_blocks": 1,
           "random_blocks": 1})",
       {"3 blocks of 2", "random block", "global key"}}};
  for (const auto& [variant, names] : expected) {
    const Trace trace = testing::run_model({.variant = variant, .length = 24});
    const DisplayList list = lay_out_view(trace, "mechanism").list;
    for (const std::string& name : names)
      EXPECT_TRUE(shows_text(list, name)) << variant << " " << name;
  }
  const Trace bidirectional = testing::run_model(
      {.variant = R"({"type": "local", "window": 3})", .length = 24, .causal = false});
  EXPECT_TRUE(shows_text(lay_out_view(bidirectional, "mechanism").list, "window ±3"));
}

TEST(RulesMechanism, ClickPinsToken) {
  const Trace trace = testing::synthetic_trace(testing::window_and_global(16, 2, 1));
  const ViewLayout layout = lay_out_view(trace, "mechanism", options_for_pair(9, 4));
  ASSERT_EQ(layout.handles.size(), 32u);
  Session session;
  layout.handles[3].click(session);
  layout.handles[16 + 7].click(session);
  EXPECT_EQ(session.view.pinned_key, 3);
  EXPECT_EQ(session.view.pinned_query, 7);
  layout.handles[3].click(session);
  EXPECT_EQ(session.view.pinned_key, -1);
}

// Two adjacent maps show the rules, and the number of layers until a key reaches a query.
TEST(RulesMechanism, ShowsReceptiveFieldThroughLayers) {
  const Trace trace = testing::run_model(
      {.variant = R"({"type": "strided", "stride": 4, "mode": "merged"})", .length = 16});
  LayoutOptions options;
  options.height = 1000;
  const DisplayList list = lay_out_view(trace, "mechanism", options).list;
  EXPECT_TRUE(shows_text(list, "in 2 steps: 4 back, then every 4th"));
  EXPECT_TRUE(shows_text(list, "until a key reaches a query"));
  // The second map is omitted if one layer covers all pairs.
  const DisplayList full =
      lay_out_view(testing::run_model({.length = 16}), "mechanism", options).list;
  EXPECT_FALSE(shows_text(full, "until a key reaches a query"));
}

// If heads have different patterns, all of them are next to the pattern of the selected head.
TEST(RulesMechanism, ShowsPatternsOfAllHeadsIfTheyDiffer) {
  const Trace trace = testing::run_model(
      {.variant = R"({"type": "blockwise", "blocks": 2})", .length = 16, .causal = false});
  const DisplayList list = lay_out_view(trace, "mechanism").list;
  EXPECT_TRUE(shows_text(list, "Each head has its own pattern"));
  const Pattern& pattern = *trace.attention[0].result.pattern;
  Index maps = 0;
  for (const Item& item : list.items) {
    const auto* cells = std::get_if<HeatMap>(&item);
    if (cells == nullptr || cells->values.dim(0) != 16) continue;
    const Index head = maps++ == 0 ? 0 : maps - 2;  // the selected head, then all heads
    for (Index i = 0; i < 16; ++i) {
      for (Index j = 0; j < 16; ++j) {
        EXPECT_EQ(!std::isnan(cells->values(i, j)), pattern.allowed(head, i, j));
      }
    }
  }
  EXPECT_EQ(maps, 3);
}

TEST(RulesMechanism, PointerSelectsPair) {
  const Trace trace = testing::synthetic_trace(testing::window_and_global(16, 2, 1));
  LayoutOptions options = options_for_pair(9, 4);
  const ViewLayout unhovered = lay_out_view(trace, "mechanism", options);
  bool has_other_query = false, has_other_key = false, has_other_pair = false;
  for (double y = 30; y < options.height; y += 9) {
    for (double x = 10; x < options.width; x += 30) {
      const std::optional<Hit> hit = unhovered.hit({x, y});
      if (!hit) continue;
      options.pointer = Point{x, y};
      const DisplayList list = lay_out_view(trace, "mechanism", options).list;
      const Pattern& pattern = *trace.attention[0].result.pattern;
      EXPECT_TRUE(
          shows_text(list, "can attend to " + std::to_string(pattern.row_size(0, hit->query))));
      has_other_query = has_other_query || (hit->query != 9 && hit->key == 4);
      has_other_key = has_other_key || (hit->query == 9 && hit->key != 4);
      has_other_pair = has_other_pair || (hit->query != 9 && hit->key != 4);
    }
  }
  EXPECT_TRUE(has_other_query && has_other_key && has_other_pair);
}

TEST(RulesMechanism, ExportedRulesMatchPattern) {
  const Trace trace = testing::synthetic_trace(testing::window_and_global(16, 2, 1));
  const Pattern& pattern = *trace.attention[0].result.pattern;
  const testing::ViewInputFixture fixture(trace, options_for_pair(9, 4).settings);
  const auto matrices = view("mechanism").data(fixture.input).matrices;
  ASSERT_EQ(matrices.size(), 2u);
  ASSERT_EQ(matrices[0].values.shape(), (Shape{1, 16}));
  ASSERT_EQ(matrices[1].values.shape(), (Shape{1, 16}));
  for (Index n = 0; n < 16; ++n) {
    const auto matches_rule = [](float actual, int rule) {
      return rule < 0 ? std::isnan(actual) : actual == static_cast<float>(rule);
    };
    EXPECT_TRUE(matches_rule(matrices[0].values(0, n), pattern.rule(0, 9, n))) << n;
    EXPECT_TRUE(matches_rule(matrices[1].values(0, n), pattern.rule(0, n, 4))) << n;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
