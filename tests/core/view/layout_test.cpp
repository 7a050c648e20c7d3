// Properties of every layout, for all views, variants, encodings, model families and page sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/attention/variant.h"
#include "core/figure/heat_map.h"
#include "core/text/tokenizer.h"
#include "core/view/mechanism/mechanism.h"
#include "core/view/view.h"
#include "core/view/view_values.h"
#include "tests/core/view/families.h"
#include "tests/support/golden_svg.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;

constexpr double kTolerance = 0.51;  // pixels

std::vector<HeatMap> heat_maps(const DisplayList& list) {
  std::vector<HeatMap> maps;
  for (const Item& item : list.items) {
    if (const auto* map = std::get_if<HeatMap>(&item)) maps.push_back(*map);
  }
  return maps;
}

bool same_box(const Box& a, const Box& b) {
  return std::abs(a.x - b.x) < kTolerance && std::abs(a.y - b.y) < kTolerance &&
         std::abs(a.right() - b.right()) < kTolerance &&
         std::abs(a.bottom() - b.bottom()) < kTolerance;
}

Point cell_centre(const ViewLayout& layout, double row, double column) {
  return {layout.plot.x + (column + 0.5 - layout.column) / layout.width * layout.plot.width,
          layout.plot.y + (row + 0.5 - layout.row) / layout.height * layout.plot.height};
}

// True if the plot shows queries down and keys across, one row and column per token.
bool shows_pairs(const ViewLayout& layout) {
  return layout.plot.width > 0 && layout.width > 0 && layout.rows_run_down &&
         layout.columns_run_across && layout.words == nullptr;
}

// Checks the plot, labels and hits of a matrix view that shows self-attention over the run's
// tokens.
void expect_aligned(const Trace& trace, const ViewLayout& layout, const std::string& context) {
  const auto count = static_cast<Index>(trace.tokens.size());
  const auto maps = heat_maps(layout.list);
  EXPECT_TRUE(std::ranges::any_of(maps,
                                  [&](const HeatMap& map) {
                                    return same_box(map.box, layout.plot) &&
                                           map.row == layout.row && map.column == layout.column &&
                                           map.height == layout.height && map.width == layout.width;
                                  }))
      << context << ": no heat map fills the plot";
  int labels = 0;
  for (const Text& text : testing::texts(layout.list)) {
    const bool is_left = text.align == Align::End && text.angle == 0 && text.at.x < layout.plot.x &&
                         text.at.y > layout.plot.y && text.at.y < layout.plot.bottom();
    if (!is_left) continue;
    bool is_token = false, is_aligned = false;
    for (Index i = 0; i < count; ++i) {
      const std::string& label = trace.tokens[static_cast<std::size_t>(i)].label;
      if (without_space_markers(label) != text.text) continue;
      is_token = true;
      is_aligned = is_aligned || std::abs(cell_centre(layout, static_cast<double>(i), 0).y -
                                          text.at.y) < kTolerance;
    }
    labels += is_token;
    EXPECT_TRUE(!is_token || is_aligned) << context << ": label " << text.text;
  }
  EXPECT_EQ(labels, count) << context << ": labels of rows";
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < count; ++j) {
      const std::optional<Hit> hit =
          layout.hit(cell_centre(layout, static_cast<double>(i), static_cast<double>(j)));
      ASSERT_TRUE(hit) << context << ": no hit at " << i << ", " << j;
      EXPECT_EQ(hit->query, i) << context;
      EXPECT_EQ(hit->key, j) << context;
    }
  }
}

// True if a bold text begins with the run's model.
bool has_title(const DisplayList& list, const Trace& trace) {
  return std::ranges::any_of(testing::texts(list), [&](const Text& text) {
    return text.bold && text.text.starts_with(trace.model);
  });
}

// True if a heat map is a strip of many colours.
bool has_colour_bar(const DisplayList& list) {
  constexpr Index kColours = 64;
  return std::ranges::any_of(heat_maps(list), [](const HeatMap& map) {
    const Tensor cells = heat_map_cells(map);
    return std::min(cells.dim(0), cells.dim(1)) == 1 &&
           std::max(cells.dim(0), cells.dim(1)) >= kColours;
  });
}

TEST(Layout, MatrixViewsAlignCellsLabelsAndHits) {
  for (const Variant& v : variants()) {
    const Trace trace = testing::run_variant(v);
    if (trace.attention[0].keys() != static_cast<Index>(trace.tokens.size())) continue;
    for (const char* id : {"map", "pattern"}) {
      for (const bool framed : {true, false}) {
        LayoutOptions look;
        look.framed = framed;
        look.settings.head = 1;
        const ViewLayout layout = lay_out_view(trace, id, look);
        if (!layout.refusal.empty()) continue;
        ASSERT_TRUE(shows_pairs(layout)) << v.id << ", " << id;
        expect_aligned(trace, layout, v.id + ", " + id);
      }
    }
  }
}

TEST(Layout, MapColoursMatchWeights) {
  for (const Variant& v : variants()) {
    const Trace trace = testing::run_variant(v);
    LayoutOptions look;
    look.settings.colour_end = ColourEnd::One;
    const ViewLayout layout = lay_out_view(trace, "map", look);
    if (!layout.refusal.empty()) continue;
    const Tensor weights = trace.attention[0].attention(0);
    const auto maps = heat_maps(layout.list);
    const auto cells = std::ranges::find_if(maps, [&](const HeatMap& map) {
      return same_box(map.box, layout.plot) && !map.hollow &&
             heat_map_cells(map).shape() == weights.shape();
    });
    ASSERT_NE(cells, maps.end()) << v.id;
    const auto rows = static_cast<int>(weights.dim(0)), columns = static_cast<int>(weights.dim(1));
    const Tensor shown = heat_map_pixels(*cells, columns, rows);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        if (std::isnan(shown(i, j))) continue;  // not allowed
        EXPECT_NEAR(static_cast<double>(shown(i, j)), static_cast<double>(weights(i, j)), 1e-6)
            << v.id << " at " << i << ", " << j;
      }
    }
    EXPECT_TRUE(cells->colour_map == "viridis" ? cells->least == 0 && cells->most == 1
                                               : cells->least == -cells->most)
        << v.id;
  }
}

TEST(Layout, FramedViewsHaveTitleAndColourBar) {
  const Trace trace = testing::run_model({});
  for (const View& v : views()) {
    LayoutOptions look;
    look.width = 1100;
    look.height = 800;
    look.reference = &trace;
    const ViewLayout framed = lay_out_view(trace, v.id, look);
    if (!framed.refusal.empty()) continue;
    EXPECT_TRUE(has_title(framed.list, trace)) << v.id;
    look.framed = false;
    EXPECT_FALSE(has_title(lay_out_view(trace, v.id, look).list, trace)) << v.id;
  }
  LayoutOptions look;
  look.reference = &trace;
  for (const char* id : {"map", "grid", "compare", "scores"}) {
    EXPECT_TRUE(has_colour_bar(lay_out_view(trace, id, look).list)) << id;
  }
}

TEST(Layout, ViewsOfVariantsAreLegibleAtManySizes) {
  for (const Variant& v : variants()) {
    const Trace trace = testing::run_variant(v);
    for (const char* id : {"map", "pattern", "lines", "scores", "graph", "flow", "architecture"}) {
      for (const auto& [width, height] : {std::pair{900.0, 620.0}, {300.0, 420.0}}) {
        LayoutOptions look;
        look.width = width;
        look.height = height;
        look.framed = width > 500;
        look.settings.layer = 1;
        look.settings.pinned_query = 9;
        EXPECT_EQ(testing::layout_error(lay_out_view(trace, id, look).list), "")
            << v.id << ", " << id << ", " << width;
      }
    }
  }
}

TEST(Layout, ViewsOfEncodingsAreLegible) {
  for (const Encoding& encoding : encodings()) {
    const Choice choice{encoding.id, illustrative_values(encoding.parameters, 12)};
    const Trace trace = testing::run_model({.encoding = to_json(choice).dump(), .kv_heads = 1});
    for (const char* id : {"position", "rope", "scores", "vectors"}) {
      for (const auto& [width, height] : {std::pair{1400.0, 900.0}, {520.0, 640.0}}) {
        LayoutOptions look;
        look.width = width;
        look.height = height;
        EXPECT_EQ(testing::layout_error(lay_out_view(trace, id, look).list), "")
            << encoding.id << ", " << id << ", " << width;
      }
    }
  }
}

TEST(Layout, ViewsOfDeepModelsAreLegible) {
  for (const auto& [layers, heads] : {std::pair<Index, Index>{30, 9}, {48, 32}}) {
    Trace trace = testing::run_model(
        {.length = 24, .layers = layers, .heads = heads, .kv_heads = heads, .head_size = 4});
    trace.model = "SmolLM2-135M-Instruct.Q4_1.gguf";
    for (const View& v : views()) {
      if (!v.objection(trace).empty()) continue;
      for (const auto& [width, height] :
           {std::pair{720.0, 1000.0}, {360.0, 900.0}, {700.0, 560.0}, {1200.0, 800.0}}) {
        LayoutOptions look;
        look.width = width;
        look.height = height;
        look.framed = height > 850;
        look.reference = &trace;
        look.settings.layer = layers - 1;
        look.settings.head = heads - 1;
        EXPECT_EQ(testing::layout_error(lay_out_view(trace, v.id, look).list), "")
            << v.id << ", " << layers << " layers, " << width;
      }
    }
  }
}

// Large text on a stage leaves little height for the picture.
TEST(Layout, LowPicturesDoNotCutShortLabels) {
  Trace trace = testing::synthetic_trace(6, 2, 24);
  for (TraceToken& token : trace.tokens) token.label = "␣home";
  for (const char* id : {"map", "depth", "intervene", "compare", "lines"}) {
    for (const auto& [width, height] : {std::pair{760.0, 430.0}, {900.0, 480.0}, {1000.0, 560.0}}) {
      LayoutOptions look;
      look.width = width;
      look.height = height;
      look.reference = &trace;
      const ViewLayout layout = lay_out_view(trace, id, look);
      ASSERT_EQ(layout.refusal, "") << id;
      EXPECT_TRUE(testing::shows_text(layout.list, "home")) << id << ", " << width;
      for (const Text& text : testing::texts(layout.list)) {
        EXPECT_FALSE(text.text.ends_with("h…") || text.text.ends_with("o…") ||
                     text.text.ends_with("m…"))
            << id << ", " << width << ": " << text.text;
      }
    }
  }
}

TEST(Layout, ViewsOfModelFamiliesAreLegible) {
  for (const testing::Family& family : testing::families()) {
    testing::ViewRun run(testing::family_session(family));
    for (const View& v : views()) {
      if (!v.objection(run.trace()).empty()) continue;
      Session session = run.session();
      session.view.id = v.id;
      const Findings findings = run.findings(session);
      for (const auto& [width, height] :
           {std::pair{900.0, 620.0}, {560.0, 380.0}, {320.0, 640.0}, {1500.0, 400.0}}) {
        const ViewInput input{.trace = run.trace(),
                              .session = session,
                              .findings = findings,
                              .canvas = {.width = width,
                                         .height = height,
                                         .theme = Theme::light(),
                                         .measure = file_text_measure()},
                              .figure = {.framed = width > 500}};
        EXPECT_EQ(testing::layout_error(v.lay_out(input).list), "")
            << family.model << ", " << v.id << ", " << width;
      }
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
