#include "core/view/map/map_values.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/flow.h"
#include "core/view/parts/colour_bar.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::synthetic_trace;

LayoutOptions options_with(const std::vector<std::pair<std::string, Value>>& parameters) {
  LayoutOptions options;
  Values values = default_values(view("map").options.parameters);
  for (const auto& [key, value] : parameters) values.set(key, value);
  set_view_values(options.settings, "map", values);
  return options;
}

const HeatMap& first_heat_map(const ViewLayout& layout) {
  for (const Item& item : layout.list.items) {
    if (const HeatMap* map = std::get_if<HeatMap>(&item)) return *map;
  }
  throw std::runtime_error("no heat map");
}

Tensor mean_weights(const Trace& trace, const std::vector<std::pair<Index, Index>>& heads) {
  Tensor sum = Tensor::zeros({trace.attention[0].queries(), trace.attention[0].keys()});
  for (const auto& [layer, head] : heads) {
    const Tensor weights = trace.attention[static_cast<std::size_t>(layer)].attention(head);
    for (Index i = 0; i < sum.size(); ++i) sum[i] += weights[i] / static_cast<float>(heads.size());
  }
  return sum;
}

void expect_near(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.shape(), expected.shape());
  for (Index i = 0; i < actual.size(); ++i) {
    EXPECT_TRUE(std::abs(actual[i] - expected[i]) <= 1e-6F) << i;
  }
}

TEST(MapValues, ShowMeansAndRollout) {
  const Trace trace = synthetic_trace(3, 2, 9);
  LayoutOptions heads = options_with({{"source", std::string("heads")}});
  heads.settings.layer = 1;
  expect_near(first_heat_map(lay_out_view(trace, "map", heads)).values,
              mean_weights(trace, {{1, 0}, {1, 1}}));
  LayoutOptions layers = options_with({{"source", std::string("layers")}});
  layers.settings.head = 1;
  expect_near(first_heat_map(lay_out_view(trace, "map", layers)).values,
              mean_weights(trace, {{0, 1}, {1, 1}, {2, 1}}));
  expect_near(
      first_heat_map(lay_out_view(trace, "map", options_with({{"source", std::string("all")}})))
          .values,
      mean_weights(trace, {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}));
  LayoutOptions rollout = options_with({{"source", std::string("rollout")}});
  rollout.settings.layer = 1;
  expect_near(first_heat_map(lay_out_view(trace, "map", rollout)).values,
              attention_rollout(
                  {mean_weights(trace, {{0, 0}, {0, 1}}), mean_weights(trace, {{1, 0}, {1, 1}})}));
}

TEST(MapValues, HitReportsDisplayedValue) {
  const Trace trace = synthetic_trace(2, 2, 5);
  const ViewLayout layout =
      lay_out_view(trace, "map", options_with({{"source", std::string("heads")}}));
  const auto hit = layout.hit({layout.plot.x + 1, layout.plot.y + 1});
  ASSERT_TRUE(hit.has_value());
  EXPECT_EQ(hit->shown, "1");  // the first query has one key
  const ViewLayout head_layout = lay_out_view(trace, "map");
  EXPECT_EQ(head_layout.hit({head_layout.plot.x + 1, head_layout.plot.y + 1})->shown, "");
}

TEST(MapValues, MemoryHasNoRollout) {
  const Trace trace = synthetic_trace(Pattern::causal(4, 8, 4));
  const ViewLayout layout =
      lay_out_view(trace, "map", options_with({{"source", std::string("rollout")}}));
  EXPECT_NE(layout.refusal.find("No rollout"), std::string::npos);
}

TEST(MapValues, HidesFirstToken) {
  const Trace trace = synthetic_trace(1, 1, 6);
  const HeatMap map =
      first_heat_map(lay_out_view(trace, "map", options_with({{"hide_first", true}})));
  const Tensor weights = trace.attention[0].attention(0);
  for (Index i = 0; i < 6; ++i) {
    EXPECT_TRUE(std::isnan(map.values(i, 0)));
    for (Index j = 1; j < 6; ++j) EXPECT_EQ(map.values(i, j), weights(i, j));
  }
  // The first token follows the memory columns.
  const Trace memory_trace = synthetic_trace(Pattern::causal(4, 8, 4));
  const HeatMap memory_map =
      first_heat_map(lay_out_view(memory_trace, "map", options_with({{"hide_first", true}})));
  EXPECT_FALSE(std::isnan(memory_map.values(3, 0)));
  EXPECT_TRUE(std::isnan(memory_map.values(3, 4)));
}

TEST(MapValues, ExplicitLimitsTakePrecedence) {
  const Trace trace = synthetic_trace(1, 1, 12);
  LayoutOptions options = options_with({{"least", 0.125}, {"most", 0.5}});
  options.settings.colour_end = ColourEnd::Largest;
  const HeatMap map = first_heat_map(lay_out_view(trace, "map", options));
  EXPECT_EQ(map.least, 0.125);
  EXPECT_EQ(map.most, 0.5);
  EXPECT_THROW(lay_out_view(trace, "map", options_with({{"least", 0.5}, {"most", 0.5}})),
               std::runtime_error);
}

// A weight has the same colour in the picture and in the colour bar.
TEST(MapValues, ScalesMatchColourBar) {
  const Trace trace = synthetic_trace(1, 1, 30);
  const Tensor weights = trace.attention[0].attention(0);
  for (const char* scale : {"log", "rank"}) {
    LayoutOptions options = options_with({{"scale", std::string(scale)}});
    options.settings.colour_end = ColourEnd::One;
    const HeatMap map = first_heat_map(lay_out_view(trace, "map", options));
    ColourRange range;
    range.scale = std::string(scale) == "log" ? ColourRange::Scale::Log : ColourRange::Scale::Rank;
    range.ranked = sampled_ranks(weights);
    EXPECT_EQ(map.least, 0);
    EXPECT_EQ(map.most, 1);
    for (Index i = 0; i < weights.size(); ++i) {
      const double expected = range.position(static_cast<double>(weights[i]));
      EXPECT_TRUE(std::abs(static_cast<double>(map.values[i]) - expected) <= 1e-6) << scale << i;
    }
  }
}

TEST(MapValues, ScaleRowsSeparately) {
  const Trace trace = synthetic_trace(1, 1, 12);
  const Tensor weights = trace.attention[0].attention(0);
  const HeatMap row_map =
      first_heat_map(lay_out_view(trace, "map", options_with({{"scale", std::string("row")}})));
  const HeatMap equal_share_map =
      first_heat_map(lay_out_view(trace, "map", options_with({{"scale", std::string("share")}})));
  EXPECT_EQ(row_map.most, 1);
  for (Index i = 0; i < 12; ++i) {
    float largest = 0;
    for (Index j = 0; j <= i; ++j) largest = std::max(largest, weights(i, j));
    for (Index j = 0; j <= i; ++j) {
      EXPECT_TRUE(std::abs(row_map.values(i, j) - weights(i, j) / largest) <= 1e-6F);
      const auto keys = static_cast<float>(i + 1);
      EXPECT_TRUE(std::abs(equal_share_map.values(i, j) - weights(i, j) * keys) <= 1e-5F);
    }
  }
  // The hit reports the value in the scale of the picture.
  const ViewLayout layout =
      lay_out_view(trace, "map", options_with({{"scale", std::string("share")}}));
  const auto hit = layout.hit({layout.plot.x + 0.5, layout.plot.y + 0.5});
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->shown, "1 times the equal share");
}

TEST(MapValues, PinnedBarsAreLegible) {
  const Trace trace = synthetic_trace(1, 1, 24);
  LayoutOptions options;
  options.width = 900;
  options.settings.pinned_query = 20;
  options.settings.pinned_key = 3;
  const ViewLayout layout = lay_out_view(trace, "map", options);
  EXPECT_EQ(testing::layout_error(layout.list), "");
  std::vector<std::string> labels;
  for (const Text& text : testing::texts(layout.list)) labels.push_back(text.text);
  const auto has_label = [&](const std::string& text) {
    return std::find(labels.begin(), labels.end(), text) != labels.end();
  };
  EXPECT_TRUE(has_label("pinned query"));
  EXPECT_TRUE(has_label("pinned key"));
  EXPECT_TRUE(has_label("3 turned"));
}

TEST(MapValues, NegativePinnedBarsPointDown) {
  Trace trace = synthetic_trace(1, 1, 8);
  Tensor weights = trace.attention[0].attention(0).copy();
  weights(6, 1) = -0.5F;
  weights(6, 3) = 0.5F;
  trace.attention[0].result.attention = weights.reshaped({1, 8, 8});
  LayoutOptions options;
  options.width = 900;
  options.settings.pinned_query = 6;
  const ViewLayout layout = lay_out_view(trace, "map", options);
  const double step = layout.plot.width / 8;
  double positive_bottom = 0, negative_top = 0;
  for (const Item& item : layout.list.items) {
    const FilledBox* box = std::get_if<FilledBox>(&item);
    if (box == nullptr || box->box.y < layout.plot.bottom()) continue;
    const auto column = static_cast<Index>((box->box.x - layout.plot.x) / step);
    if (column == 1) negative_top = box->box.y;
    if (column == 3) positive_bottom = box->box.bottom();
  }
  ASSERT_GT(positive_bottom, 0);
  EXPECT_TRUE(std::abs(positive_bottom - negative_top) < 1e-9)
      << positive_bottom << " " << negative_top;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
