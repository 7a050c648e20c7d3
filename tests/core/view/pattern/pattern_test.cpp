#include <gtest/gtest.h>

#include <algorithm>

#include "core/figure/colour_map.h"
#include "tests/support/model_trace.h"
#include "tests/support/picture.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;

bool contains_text(const DisplayList& list, const std::string& part) {
  const std::vector<Text> drawn_texts = testing::texts(list);
  return std::any_of(drawn_texts.begin(), drawn_texts.end(),
                     [&](const Text& text) { return text.text.find(part) != std::string::npos; });
}

TEST(PatternView, PixelsHaveRuleColours) {
  for (const Index length : {20, 300}) {
    const Trace trace = testing::synthetic_trace(testing::window_and_global(length, 2, 1));
    const Pattern& pattern = *trace.attention[0].result.pattern;
    const ViewLayout layout = lay_out_view(trace, "pattern");
    const Image image = render_image(layout.list, 4);
    const ColourMap& colours = colour_map(kCategories);
    const auto n = static_cast<double>(length);
    for (Index i = 0; i < length; i += length / 20) {
      for (Index c = 0; c < length; c += length / 20) {
        const double x = layout.plot.x + (static_cast<double>(c) + 0.5) * layout.plot.width / n;
        const double y = layout.plot.y + (static_cast<double>(i) + 0.5) * layout.plot.height / n;
        const Colour actual =
            testing::pixel(image, static_cast<int>(4 * x), static_cast<int>(4 * y));
        const int rule = pattern.rule(0, i, c);
        if (rule >= 0) {
          EXPECT_EQ(actual, colours.colours[static_cast<std::size_t>(rule)]) << i << ", " << c;
        } else {
          EXPECT_NE(actual, colours.colours[0]) << i << ", " << c;
          EXPECT_NE(actual, colours.colours[1]) << i << ", " << c;
        }
      }
    }
  }
}

TEST(PatternView, LegendNamesRulesAndCounts) {
  const DisplayList list =
      lay_out_view(testing::synthetic_trace(testing::window_and_global(16, 1, 1)), "pattern").list;
  EXPECT_TRUE(contains_text(list, "window  "));
  EXPECT_TRUE(contains_text(list, "global  "));
  EXPECT_TRUE(contains_text(list, "not allowed"));
  // The window of one token per side has 46 pairs. Row 0 and column 0 add 14 pairs each.
  EXPECT_TRUE(contains_text(list, "74 pairs"));
  EXPECT_TRUE(contains_text(list, "density 28.9%"));
  EXPECT_TRUE(contains_text(list, "of 256 pairs"));
}

// All pairs are allowed, at different costs.
TEST(PatternView, CostFollowsMechanismNotMask) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type": "full"})", "100% of the cost of"},
      {R"({"type": "linformer", "k": 3})", "25% of the cost of"},               // k / L
      {R"({"type": "memory_compressed", "stride": 4})", "25% of the cost of"},  // 1 / stride
      {R"({"type": "sinkhorn", "block": 2, "iterations": 3})", "33.3% of the cost of"},  // 2b / L
      // 2 L d (d + 1) multiply-adds, relative to 2 d L^2 of full attention.
      {R"({"type": "linear"})", "75% of the cost of"},
  };
  for (const auto& [variant, cost] : cases) {
    const Trace trace =
        testing::run_model({.variant = variant, .encoding = "none", .length = 12, .causal = false});
    const DisplayList list = lay_out_view(trace, "pattern").list;
    EXPECT_TRUE(contains_text(list, "density 100%")) << variant;
    EXPECT_TRUE(contains_text(list, cost)) << variant;
    EXPECT_TRUE(contains_text(list, "full attention")) << variant;
  }
}

TEST(PatternView, LegendShortensManyRules) {
  std::vector<std::string> names;
  for (int rule = 0; rule < 100; ++rule) names.push_back("cluster " + std::to_string(rule));
  PatternBuilder builder(1, 100, 100, names);
  for (int i = 0; i < 100; ++i) {
    builder.add(i, 0, 100);
    builder.next_row();
  }
  const ViewLayout layout = lay_out_view(testing::synthetic_trace(builder.finish()), "pattern");
  EXPECT_TRUE(contains_text(layout.list, "and "));
  EXPECT_TRUE(contains_text(layout.list, "10,000 pairs"));
  EXPECT_EQ(testing::layout_error(layout.list), "");
}

TEST(PatternView, CachesMatrix) {
  const Trace trace = testing::synthetic_trace(testing::window_and_global(50, 2, 1));
  const auto matrix = [&](ViewCache* cache) {
    LayoutOptions options;
    options.cache = cache;
    const ViewLayout layout = lay_out_view(trace, "pattern", options);
    return std::get<HeatMap>(*std::find_if(layout.list.items.begin(), layout.list.items.end(),
                                           [](const Item& item) {
                                             return std::holds_alternative<HeatMap>(item);
                                           }))
        .values;
  };
  ViewCache cache;
  const Tensor first = matrix(&cache), second = matrix(&cache), uncached = matrix(nullptr);
  EXPECT_EQ(first.data(), second.data());
  EXPECT_NE(first.data(), uncached.data());
}

TEST(PatternView, DrawsLongTexts) {
  const Trace trace = [] {
    Trace t = testing::synthetic_trace(0, 0, 5000);
    AttentionTap tap = testing::synthetic_tap(0, 1, Pattern::causal(1, 1));
    tap.result.pattern = std::make_shared<const Pattern>(testing::window_and_global(5000, 20, 3));
    t.attention.push_back(tap);
    return t;
  }();
  LayoutOptions options;
  EXPECT_EQ(testing::layout_error(lay_out_view(trace, "pattern", options).list), "");
  options.settings.row = options.settings.column = 3000;
  options.settings.height = options.settings.width = 60;
  const ViewLayout layout = lay_out_view(trace, "pattern", options);
  const Image image = render_image(layout.list, 1);
  const auto pixel_at = [&](double row, double column) {
    return testing::pixel(
        image, static_cast<int>(layout.plot.x + (column - 3000) / 60 * layout.plot.width),
        static_cast<int>(layout.plot.y + (row - 3000) / 60 * layout.plot.height));
  };
  const Colour window = colour_map(kCategories).colours[0];
  EXPECT_EQ(pixel_at(3030.5, 3030.5), window);
  EXPECT_EQ(pixel_at(3030.5, 3050.5), window);
  EXPECT_NE(pixel_at(3030.5, 3051.5), window);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
