#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/cost.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/view/export/view_data.h"
#include "core/view/view.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::synthetic_trace;

bool has_text(const DisplayList& list, const std::string& fragment) {
  const std::vector<Text> all = testing::texts(list);
  return std::any_of(all.begin(), all.end(), [&](const Text& text) {
    return text.text.find(fragment) != std::string::npos;
  });
}

// Maps without their colour bars, from left to right.
std::vector<HeatMap> maps(const DisplayList& list) {
  std::vector<HeatMap> result;
  for (const Item& item : list.items) {
    const HeatMap* map = std::get_if<HeatMap>(&item);
    if (map != nullptr && !map->hollow && map->values.dim(0) > 1 && map->values.dim(1) > 1)
      result.push_back(*map);
  }
  return result;
}

// synthetic_trace() with different attention rows.
Trace trace_with_other_rows(Index length) {
  Trace trace = synthetic_trace(1, 2, length);
  Tensor& weights = trace.attention[0].result.attention;
  weights = weights.copy();
  for (Index i = 1; i < length; ++i) std::swap(weights(0, i, 0), weights(0, i, i));
  return trace;
}

TEST(Compare, ShowsBothMapsAndTheirDifference) {
  const Trace a = synthetic_trace(1, 2, 12), b = trace_with_other_rows(12);
  LayoutOptions look;
  look.reference = &b;
  look.height = 1000;
  const ViewLayout layout = lay_out_view(a, "compare", look);
  const std::vector<HeatMap> shown = maps(layout.list);
  ASSERT_EQ(shown.size(), 3u);
  for (Index i = 0; i < 12; ++i) {
    for (Index c = 0; c < 12; ++c) {
      if (c > i) {
        EXPECT_TRUE(std::isnan(shown[2].values(i, c)));  // not allowed
      } else {
        EXPECT_EQ(shown[2].values(i, c), shown[0].values(i, c) - shown[1].values(i, c));
      }
    }
  }
  EXPECT_EQ(shown[2].least, -shown[2].most);
  EXPECT_EQ(shown[0].most, shown[1].most);  // both maps have the same scale
  EXPECT_TRUE(has_text(layout.list, "KL(A, B)"));
  for (const char* fact : {"Perplexity", "Bits per token", "Time", "Pairs", "Memory"}) {
    EXPECT_TRUE(has_text(layout.list, fact)) << fact;
  }
}

TEST(Compare, OmitsFactsThatNeitherRunHas) {
  Trace a = synthetic_trace(1, 2, 12), b = a;
  LayoutOptions look;
  look.reference = &b;
  a.token_bits = {};
  EXPECT_TRUE(has_text(lay_out_view(a, "compare", look).list, "Perplexity"));
  b.token_bits = {};
  const ViewLayout layout = lay_out_view(a, "compare", look);
  EXPECT_FALSE(has_text(layout.list, "Perplexity"));
  EXPECT_TRUE(has_text(layout.list, "Memory"));
}

TEST(Compare, RangeOfDivergenceHasItsUnit) {
  const Trace a = synthetic_trace(1, 2, 40), b = trace_with_other_rows(40);
  LayoutOptions look;
  look.reference = &b;
  look.width = 1500;
  look.height = 420;
  const std::vector<Text> all = testing::texts(lay_out_view(a, "compare", look).list);
  EXPECT_TRUE(std::ranges::any_of(all, [](const Text& text) {
    return text.text.starts_with("to ") && text.text.ends_with(" bits");
  }));
}

TEST(Compare, ShiftSwapsRuns) {
  const Trace a = synthetic_trace(1, 2, 12), b = trace_with_other_rows(12);
  LayoutOptions look;
  look.reference = &b;
  const std::vector<HeatMap> original = maps(lay_out_view(a, "compare", look).list);
  look.flipped = true;
  const std::vector<HeatMap> swapped = maps(lay_out_view(a, "compare", look).list);
  EXPECT_EQ(swapped[0].values.data(), original[1].values.data());
  EXPECT_EQ(swapped[1].values.data(), original[0].values.data());
  EXPECT_EQ(swapped[0].box.x, original[0].box.x);
  for (Index i = 0; i < swapped[2].values.size(); ++i) {
    if (std::isnan(original[2].values[i])) continue;
    EXPECT_EQ(swapped[2].values[i], original[2].values[i]);  // still A - B
  }
  Values values = view_values(look.settings, "compare");
  values.set("show", std::string("A"));
  set_view_values(look.settings, "compare", values);
  const std::vector<HeatMap> single = maps(lay_out_view(a, "compare", look).list);
  ASSERT_EQ(single.size(), 1u);
  EXPECT_EQ(single[0].values.data(), original[1].values.data());
}

TEST(Compare, ExplainsMissingDifference) {
  const Trace a = synthetic_trace(1, 2, 12), b = synthetic_trace(1, 2, 20);
  LayoutOptions look;
  look.reference = &b;
  const ViewLayout layout = lay_out_view(a, "compare", look);
  EXPECT_EQ(maps(layout.list).size(), 2u);
  EXPECT_TRUE(has_text(layout.list, "No difference to show: A has 12 tokens, B has 20."));
  EXPECT_TRUE(has_text(layout.list, "Bits per byte"));
}

TEST(Compare, EmptyMemoryIsNoDifference) {
  const Trace a = synthetic_trace(1, 2, 12);
  Trace b = trace_with_other_rows(12);
  const auto layout = [&] {
    LayoutOptions look;
    look.reference = &b;
    return lay_out_view(a, "compare", look);
  };
  // An empty memory has no columns.
  b.attention[0].result.columns = {{KeyKind::Memory, 0}, {KeyKind::Token, 5}, {KeyKind::Token, 7}};
  EXPECT_EQ(maps(layout().list).size(), 3u);
  b.attention[0].result.columns = {{KeyKind::Memory, 4}, {KeyKind::Token, 8}};
  const ViewLayout memory_layout = layout();
  EXPECT_EQ(maps(memory_layout.list).size(), 2u);
  EXPECT_TRUE(has_text(memory_layout.list, "A has 12 tokens; B has 4 memory, 8 tokens."));
}

TEST(Compare, MarksPredictionsThatLeakTargets) {
  const Trace a = synthetic_trace(1, 2, 12);
  Trace b = trace_with_other_rows(12);
  b.attention[0].causal = false;
  LayoutOptions look;
  look.reference = &b;
  look.width = 1400;
  EXPECT_TRUE(has_text(lay_out_view(a, "compare", look).list, ", leaks targets"));
  b.attention[0].causal = true;
  EXPECT_FALSE(has_text(lay_out_view(a, "compare", look).list, ", leaks targets"));
}

TEST(Compare, ReportsIdenticalRuns) {
  const Trace a = synthetic_trace(1, 2, 12);
  LayoutOptions look;
  look.reference = &a;
  const ViewLayout layout = lay_out_view(a, "compare", look);
  EXPECT_EQ(maps(layout.list).size(), 2u);
  EXPECT_TRUE(has_text(layout.list, "A and B are identical: change something in A or B."));
}

TEST(Compare, ImportedTensorsAreLabelledByFile) {
  Trace a = synthetic_trace(1, 2, 12), b = trace_with_other_rows(12);
  a.is_imported = b.is_imported = true;
  a.model = "one.npy";
  b.model = "two.npy";
  LayoutOptions look;
  look.reference = &b;
  const ViewLayout layout = lay_out_view(a, "compare", look);
  EXPECT_TRUE(has_text(layout.list, "one.npy"));
  EXPECT_TRUE(has_text(layout.list, "as stored in the file"));
  EXPECT_FALSE(has_text(layout.list, "Full"));
  EXPECT_FALSE(has_text(layout.list, "osition: "));
}

TEST(Compare, LabelsAreLegibleInLittleSpace) {
  const Trace a = synthetic_trace(2, 2, 20), b = trace_with_other_rows(20);
  LayoutOptions look;
  look.reference = &b;
  look.framed = false;
  look.font_size = 14;
  look.width = 428;
  look.height = 286;
  const ViewLayout layout = lay_out_view(a, "compare", look);
  EXPECT_EQ(maps(layout.list).size(), 3u);
  for (const Text& text : testing::texts(layout.list)) {
    EXPECT_EQ(text.text.find("…"), std::string::npos) << text.text;
  }
}

TEST(Compare, ExportRequiresRunB) {
  const Trace a = synthetic_trace(1, 1, 5), b = trace_with_other_rows(5);
  Session session;
  session.view.id = "compare";
  EXPECT_THROW(view_data(a, session), InputError);
  session.b.emplace();
  const ViewData data = view_data(a, session, testing::findings_of(a, &b));
  ASSERT_EQ(data.matrices.size(), 3u);
  EXPECT_EQ(data.matrices[2].name, "A - B");
  EXPECT_EQ(data.matrices[2].values(3, 0),
            data.matrices[0].values(3, 0) - data.matrices[1].values(3, 0));
}

TEST(Compare, MarksPairInAllMaps) {
  const Trace a = synthetic_trace(1, 2, 12), b = trace_with_other_rows(12);
  LayoutOptions look;
  look.reference = &b;
  look.framed = false;
  std::vector<HeatMap> shown = maps(lay_out_view(a, "compare", look).list);
  for (const HeatMap& map : shown) {
    const double cell = map.box.width / 12;
    look.pointer = Point{map.box.x + 2.5 * cell, map.box.y + 7.5 * map.box.height / 12};
    const ViewLayout layout = lay_out_view(a, "compare", look);
    const auto hit = layout.hit(*look.pointer);
    ASSERT_TRUE(hit.has_value());
    EXPECT_EQ(hit->query, 7);
    EXPECT_EQ(hit->key, 2);
    EXPECT_EQ(layout.plot.x, map.box.x);  // the wheel zooms at the pointer
    const auto marks =
        std::count_if(layout.list.items.begin(), layout.list.items.end(), [&](const Item& item) {
          const auto* box = std::get_if<OutlinedBox>(&item);
          return box != nullptr && box->thickness == 2 && std::abs(box->box.width - cell) < 1e-6;
        });
    EXPECT_EQ(marks, 3);
  }
}

TEST(Compare, ZoomsBothMapsAlike) {
  const Trace a = synthetic_trace(1, 1, 20), b = synthetic_trace(1, 1, 40);
  LayoutOptions look;
  look.reference = &b;
  look.settings.row = 5;
  look.settings.column = 2;
  look.settings.height = look.settings.width = 10;
  const ViewLayout layout = lay_out_view(a, "compare", look);
  const std::vector<HeatMap> shown = maps(layout.list);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_DOUBLE_EQ(shown[0].row, 5);
  EXPECT_DOUBLE_EQ(shown[1].row, 10);
  EXPECT_DOUBLE_EQ(shown[1].height, 20);
  EXPECT_DOUBLE_EQ(layout.height, 10);  // in cells of A
}

TEST(Compare, ExplainsHowToSetRunB) {
  const ViewLayout layout = lay_out_view(synthetic_trace(1, 1, 5), "compare");
  EXPECT_NE(layout.refusal.find("Compare with this"), std::string::npos);
}

// The headings of both maps quote the beginnings of the texts, at the same height.
TEST(Compare, HeadingsDescribeDifferenceOfTexts) {
  const Trace a = synthetic_trace(1, 2, 12);
  Trace b = synthetic_trace(1, 2, 9);
  std::rotate(b.tokens.begin(), b.tokens.begin() + 3, b.tokens.end());
  for (TraceToken& token : b.tokens) token.label += "es";  // longer labels above the map
  LayoutOptions look;
  look.reference = &b;
  look.width = 1000;
  const ViewLayout layout = lay_out_view(a, "compare", look);
  std::vector<double> lines;
  for (const Text& text : testing::texts(layout.list)) {
    EXPECT_NE(text.text, "its own text");
    if (text.text.starts_with("“")) lines.push_back(text.at.y);
  }
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], lines[1]);
  EXPECT_TRUE(has_text(layout.list, "“The lighthouse"));
}

TEST(Compare, ExplainsInfiniteDivergence) {
  const Trace a = synthetic_trace(1, 2, 12);
  Trace b = synthetic_trace(1, 2, 12);
  Tensor& weights = b.attention[0].result.attention;
  weights = weights.copy();
  for (Index i = 1; i < 12; ++i) {  // no weight on the first key
    weights(0, i, 1) += weights(0, i, 0);
    weights(0, i, 0) = 0;
  }
  LayoutOptions look;
  look.width = 1000;
  look.height = 1000;
  look.reference = &b;
  // A weight of an allowed pair can underflow, but the divergence stays finite.
  EXPECT_FALSE(has_text(lay_out_view(a, "compare", look).list, "∞"));
  ByteTensor mask = b.attention[0].result.pattern->mask(2);
  for (Index i = 1; i < 12; ++i) mask(0, i, 0) = 0;
  b.attention[0].result.mask = mask;
  for (const double height : {1000.0, 480.0}) {
    look.height = height;
    EXPECT_TRUE(has_text(lay_out_view(a, "compare", look).list,
                         "KL(A, B) = ∞, because A gives weight to keys that B excludes."));
  }
  Values values = view_values(look.settings, "compare");
  values.set("rows", std::string("reverse"));  // finite, because A gives weight wherever B does
  set_view_values(look.settings, "compare", values);
  EXPECT_FALSE(has_text(lay_out_view(a, "compare", look).list, "∞"));
  look.reference = &a;
  EXPECT_TRUE(has_text(lay_out_view(b, "compare", look).list,
                       "KL(B, A) = ∞, because B gives weight to keys that A excludes."));
}

TEST(Compare, ReportsOmittedContent) {
  const Trace a = synthetic_trace(1, 2, 12), b = trace_with_other_rows(12);
  LayoutOptions look;
  look.reference = &b;
  look.width = 317;
  for (const double height : {858.0, 640.0, 420.0}) {
    look.height = height;
    const DisplayList list = lay_out_view(a, "compare", look).list;
    EXPECT_NE(has_text(list, "Memory"), has_text(list, "table of facts")) << height;
    EXPECT_EQ(maps(list).size() == 2, has_text(list, "A − B")) << height;
  }
  look.height = 858;  // 317 x 858: a column of a paper
  EXPECT_EQ(maps(lay_out_view(a, "compare", look).list).size(), 3u);
}

TEST(Compare, FactsAreNotShortened) {
  const Trace a = synthetic_trace(1, 2, 200),
              b = synthetic_trace(testing::window_and_global(200, 3, 1));
  LayoutOptions look;
  look.reference = &b;
  for (const double width : {640.0, 720.0, 1000.0, 1600.0}) {
    look.width = width;
    look.height = 1000;
    for (const Text& text : testing::texts(lay_out_view(a, "compare", look).list)) {
      if (text.text.find(" (") != std::string::npos && text.angle == 0) {
        EXPECT_EQ(text.text.find("…"), std::string::npos) << text.text << " " << width;
      }
    }
  }
}

// The cost of sparse attention is not always proportional to the number of pairs.
TEST(Compare, PairsAreShownWithCost) {
  const Trace a = synthetic_trace(1, 2, 40),
              b = synthetic_trace(testing::window_and_global(40, 3, 1));
  LayoutOptions look;
  look.reference = &b;
  look.height = 1000;
  const DisplayList list = lay_out_view(a, "compare", look).list;
  EXPECT_TRUE(has_text(list, "1,640"));  // full attention: number of pairs without a cost
  const double cost_percent = 100 * run_cost(b).products / run_cost(b).full;
  ASSERT_GT(cost_percent, 10);
  EXPECT_TRUE(has_text(list, "(cost " + fixed(cost_percent, 0) + "%)")) << cost_percent;
}

std::vector<std::string> headings_with_values(const Trace& a, const Trace& b, double width) {
  LayoutOptions look;
  look.reference = &b;
  look.width = width;
  look.framed = false;  // the caption lists all parameters
  std::vector<std::string> headings;
  for (const Text& text : testing::texts(lay_out_view(a, "compare", look).list)) {
    if (text.text.find(" = ") != std::string::npos) headings.push_back(text.text);
  }
  return headings;
}

TEST(Compare, HeadingsListDifferencesOnly) {
  Trace a = synthetic_trace(1, 2, 12), b = trace_with_other_rows(12);
  for (Trace* trace : {&a, &b}) {
    trace->attention[0].encoding.id = "rope";
    trace->attention[0].encoding.values = default_values(encoding("rope").parameters);
  }
  a.attention[0].encoding.values.set("base", 10.0);
  const std::string label = "position: " + encoding("rope").label;
  EXPECT_EQ(headings_with_values(a, b, 1600),
            (std::vector<std::string>{label + " (base = 10)", label + " (base = 10000)"}));
  EXPECT_EQ(headings_with_values(a, b, 540),
            (std::vector<std::string>{"base = 10", "base = 10000"}));
  // If the encodings differ, headings list only values that deviate from the default.
  b.attention[0].encoding.id = default_encoding().id;
  b.attention[0].encoding.values = default_encoding().values;
  EXPECT_EQ(headings_with_values(a, b, 1600), std::vector<std::string>{label + " (base = 10)"});
}

TEST(Compare, SmallDifferencesHaveShortBars) {
  const Trace a = synthetic_trace(1, 2, 12);
  Trace b = synthetic_trace(1, 2, 12);
  Tensor& weights = b.attention[0].result.attention;
  weights = weights.copy();
  for (Index i = 1; i < 12; ++i) {
    weights(0, i, 0) += 1e-5f;
    weights(0, i, i) -= 1e-5f;
  }
  LayoutOptions look;
  look.reference = &b;
  EXPECT_TRUE(has_text(lay_out_view(a, "compare", look).list, "to 0.001"));
  const Trace other_run = trace_with_other_rows(12);
  look.reference = &other_run;
  EXPECT_FALSE(has_text(lay_out_view(a, "compare", look).list, "to 0.001"));
}

TEST(Compare, MapsFillThePage) {
  const Trace a = synthetic_trace(1, 2, 60), b = trace_with_other_rows(60);
  LayoutOptions look;
  look.reference = &b;
  look.framed = false;
  for (const auto& [width, height, min_width] :
       {std::tuple{900.0, 850.0, 225.0}, {1600.0, 600.0, 340.0}, {640.0, 640.0, 130.0}}) {
    look.width = width;
    look.height = height;
    const std::vector<HeatMap> shown = maps(lay_out_view(a, "compare", look).list);
    ASSERT_EQ(shown.size(), 3u);
    EXPECT_GE(shown[0].box.width, min_width) << width << " x " << height;
  }
}

// For an audience: two maps, larger than they are next to a map of their difference, and one number
// that compares them.
TEST(Compare, MapsChoiceShowsTwoLargeMapsAndOneNumber) {
  const Trace a = synthetic_trace(1, 2, 12), b = trace_with_other_rows(12);
  LayoutOptions look;
  look.reference = &b;
  look.width = 870;
  look.height = 480;
  const double width_of_three = maps(lay_out_view(a, "compare", look).list).at(0).box.width;
  set_view_value(look.settings, "compare", "show", std::string("maps"));
  const ViewLayout layout = lay_out_view(a, "compare", look);
  const std::vector<HeatMap> shown = maps(layout.list);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_GT(shown[0].box.width, 1.1 * width_of_three);
  EXPECT_EQ(testing::layout_error(layout.list), "");
  EXPECT_TRUE(has_text(layout.list, "KL(A, B): "));
  EXPECT_TRUE(has_text(layout.list, " bits per row on average (0: identical)"));
  EXPECT_FALSE(has_text(layout.list, "Perplexity"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
