#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/figure/render.h"
#include "core/view/parts/first_token.h"
#include "core/view/parts/not_allowed.h"
#include "tests/core/view/sink.h"
#include "tests/support/picture.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::synthetic_trace;

bool contains_text(const DisplayList& list, const std::string& part) {
  const std::vector<Text> drawn_texts = testing::texts(list);
  return std::any_of(drawn_texts.begin(), drawn_texts.end(),
                     [&](const Text& text) { return text.text.find(part) != std::string::npos; });
}

const HeatMap& first_heat_map(const DisplayList& list) {
  for (const Item& item : list.items) {
    if (const HeatMap* map = std::get_if<HeatMap>(&item)) return *map;
  }
  throw std::runtime_error("no heat map");
}

TEST(Map, HitReportsPair) {
  const Trace trace = synthetic_trace(2, 3, 9);
  LayoutOptions options;
  options.settings.layer = 1;
  options.settings.head = 2;
  const ViewLayout layout = lay_out_view(trace, "map", options);
  const Box plot = layout.plot;
  for (Index i = 0; i < 9; ++i) {
    for (Index c = 0; c < 9; ++c) {
      const Point p{plot.x + (static_cast<double>(c) + 0.5) * plot.width / 9,
                    plot.y + (static_cast<double>(i) + 0.5) * plot.height / 9};
      const std::optional<Hit> hit = layout.hit(p);
      ASSERT_TRUE(hit.has_value());
      EXPECT_EQ(hit->layer, 1);
      EXPECT_EQ(hit->head, 2);
      EXPECT_EQ(hit->query, i);
      EXPECT_EQ(hit->key, c);
    }
  }
  EXPECT_FALSE(layout.hit({plot.x - 1, plot.y + 5}).has_value());
  EXPECT_FALSE(layout.hit({plot.x + 5, plot.bottom() + 1}).has_value());
}

TEST(Map, PixelsHaveColoursOfWeights) {
  const Trace trace = synthetic_trace(1, 2, 8);
  LayoutOptions options;
  options.settings.head = 1;
  options.settings.colour_end = ColourEnd::One;
  const ViewLayout layout = lay_out_view(trace, "map", options);
  const Image image = render_image(layout.list, 2);
  const Tensor weights = trace.attention[0].attention(1);
  const ColourMap& colours = colour_map("viridis");
  for (Index i = 0; i < 8; ++i) {
    for (Index c = 0; c < 8; ++c) {
      // Corner of the cell, outside its number.
      const double x = layout.plot.x + (static_cast<double>(c) + 0.08) * layout.plot.width / 8;
      const double y = layout.plot.y + (static_cast<double>(i) + 0.08) * layout.plot.height / 8;
      EXPECT_EQ(testing::pixel(image, static_cast<int>(2 * x), static_cast<int>(2 * y)),
                c <= i ? colours.at(weights(i, c)) : excluded_colour(Theme::light()))
          << i << ", " << c;
    }
  }
}

TEST(Map, ZoomAcceptsPartialCells) {
  const Trace trace = synthetic_trace(1, 1, 40);
  LayoutOptions options;
  options.settings.row = 10.25;
  options.settings.column = 4.5;
  options.settings.height = 8;
  options.settings.width = 8;
  const ViewLayout layout = lay_out_view(trace, "map", options);
  EXPECT_EQ(layout.row, 10.25);
  EXPECT_EQ(layout.width, 8);
  const std::optional<Hit> first = layout.hit({layout.plot.x + 0.5, layout.plot.y + 0.5});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->query, 10);
  EXPECT_EQ(first->key, 4);
  const double cell = layout.plot.width / 8;
  const std::optional<Hit> next =
      layout.hit({layout.plot.x + 0.6 * cell, layout.plot.y + 0.8 * cell});
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->query, 11);
  EXPECT_EQ(next->key, 5);
  EXPECT_EQ(testing::layout_error(layout.list), "");
  EXPECT_TRUE(contains_text(layout.list, "turned"));  // token 16
}

TEST(Map, ShowsSpaceMarkersOnRequest) {
  const Trace trace = synthetic_trace(2, 3, 9);
  LayoutOptions options;
  EXPECT_FALSE(contains_text(lay_out_view(trace, "map", options).list, "␣turned"));
  options.settings.space_markers = true;
  EXPECT_TRUE(contains_text(lay_out_view(trace, "map", options).list, "␣turned"));
}

TEST(Map, ZoomKeepsPlotInPlace) {
  const Trace trace = synthetic_trace(1, 1, 60);
  const Box unzoomed = lay_out_view(trace, "map").plot;
  LayoutOptions options;
  for (const double extent : {50.0, 20.0, 5.0, 1.0}) {
    options.settings.row = options.settings.column = 3;
    options.settings.height = options.settings.width = extent;
    const Box plot = lay_out_view(trace, "map", options).plot;
    EXPECT_EQ(plot.x, unzoomed.x);
    EXPECT_EQ(plot.y, unzoomed.y);
    EXPECT_EQ(plot.width, unzoomed.width);
  }
}

TEST(Map, ClampsInvalidZoom) {
  const Trace trace = synthetic_trace(1, 1, 10);
  LayoutOptions options;
  for (const double v : {1e300, -1e300, 1e-300}) {
    options.settings.row = v;
    options.settings.column = -v;
    options.settings.height = options.settings.width = std::abs(v);
    EXPECT_EQ(testing::layout_error(lay_out_view(trace, "map", options).list), "") << v;
  }
}

TEST(Map, ShowsNumbersInLargeCellsOnly) {
  EXPECT_TRUE(contains_text(lay_out_view(synthetic_trace(1, 1, 8), "map").list, "1.00"));
  EXPECT_FALSE(contains_text(lay_out_view(synthetic_trace(1, 1, 100), "map").list, "1.00"));
}

TEST(Map, NotesMaxPooling) {
  EXPECT_FALSE(contains_text(lay_out_view(synthetic_trace(1, 1, 100), "map").list, "max-pooled"));
  EXPECT_TRUE(contains_text(lay_out_view(synthetic_trace(1, 1, 900), "map").list, "max-pooled"));
}

// Ascending weights of a causal map from row `first_row` on, without row 0, which has one key.
std::vector<float> sorted_weights(const Trace& trace, Index first_row) {
  std::vector<float> weights;
  const Tensor attention = trace.attention[0].attention(0);
  for (Index i = std::max<Index>(1, first_row); i < attention.dim(0); ++i) {
    for (Index j = 0; j <= i; ++j) weights.push_back(attention(i, j));
  }
  std::ranges::sort(weights);
  return weights;
}

TEST(Map, ColoursEndAtLargestVisibleWeight) {
  const Trace trace = synthetic_trace(1, 1, 10);
  LayoutOptions options;
  options.settings.colour_end = ColourEnd::One;
  EXPECT_EQ(first_heat_map(lay_out_view(trace, "map", options).list).most, 1);
  options.settings.colour_end = ColourEnd::Largest;
  // The range ignores row 0, whose weight is 1 in every head.
  EXPECT_EQ(first_heat_map(lay_out_view(trace, "map", options).list).most,
            sorted_weights(trace, 0).back());
  options.settings.row = 5;
  options.settings.height = 5;
  options.settings.width = 10;
  EXPECT_EQ(first_heat_map(lay_out_view(trace, "map", options).list).most,
            sorted_weights(trace, 5).back());
}

TEST(Map, ColoursEndAt99thPercentile) {
  Trace trace = synthetic_trace(1, 1, 60);
  Tensor& weights = trace.attention[0].result.attention;
  weights = weights.copy();
  for (Index i = 50; i < 60; ++i) weights(0, i, 3) = 0.9F;  // 10 of 1,829 pairs
  const ViewLayout layout = lay_out_view(trace, "map");
  const std::vector<float> sorted = sorted_weights(trace, 0);
  const auto count_below =
      static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(sorted.size())));
  EXPECT_EQ(first_heat_map(layout.list).most, sorted[count_below - 1]);
  EXPECT_LT(first_heat_map(layout.list).most, 0.9F);
  EXPECT_TRUE(contains_text(layout.list, "≥ "));
}

TEST(Map, DisallowedPairsDifferFromZeroWeights) {
  Trace trace = synthetic_trace(1, 1, 12);
  Tensor& weights = trace.attention[0].result.attention;
  weights = weights.copy();
  weights(0, 9, 2) = 0;  // an allowed pair
  const ViewLayout layout = lay_out_view(trace, "map");
  const Image image = render_image(layout.list, 1);
  const auto pixel_of_cell = [&](Index row, Index column) {
    const Box& plot = layout.plot;
    const auto x =
        static_cast<int>(plot.x + (static_cast<double>(column) + 0.25) * plot.width / 12);
    const auto y = static_cast<int>(plot.y + (static_cast<double>(row) + 0.12) * plot.height / 12);
    const std::uint8_t* p = image.rgba.data() + 4 * (y * image.width + x);
    return Colour{p[0], p[1], p[2], p[3]};
  };
  EXPECT_EQ(pixel_of_cell(2, 9), excluded_colour(Theme::light()));
  EXPECT_EQ(pixel_of_cell(9, 2), colour_map("viridis").colours[0]);
  EXPECT_TRUE(contains_text(layout.list, "not allowed"));
  EXPECT_FALSE(
      contains_text(lay_out_view(synthetic_trace(Pattern::all(8, 8)), "map").list, "not allowed"));
}

TEST(Map, SignedWeightsUseDivergingScale) {
  Trace trace = synthetic_trace(1, 1, 4);
  trace.attention[0].result.attention = Tensor::full({1, 4, 4}, -3.0f);
  const HeatMap map = first_heat_map(lay_out_view(trace, "map").list);
  EXPECT_TRUE(colour_map(map.colour_map).diverging());
  EXPECT_EQ(map.least, -3);
  EXPECT_EQ(map.most, 3);
}

// Device tensor that counts its downloads.
class FakeDevice : public DeviceTensor {
 public:
  explicit FakeDevice(Tensor values) : values_(std::move(values)) {}
  Shape shape() const override { return values_.shape(); }
  Tensor download() const override {
    ++downloads;
    return values_;
  }
  Tensor rows(Index plane, Index first, Index every, Index count) const override {
    return rows_of(values_, plane, first, every, count);
  }
  mutable int downloads = 0;

 private:
  Tensor values_;
};

TEST(Map, DownloadsAttentionOnlyToRender) {
  Trace trace = synthetic_trace(1, 2, 100);
  OperationRecord& result = trace.attention[0].result;
  const auto device = std::make_shared<FakeDevice>(result.attention);
  result.attention = Tensor();
  result.device = device;
  auto part = std::make_shared<Part>();
  part->pattern = result.pattern;
  trace.attention[0].vectors = AttentionVectors{.part = part};
  LayoutOptions options;
  options.settings.head = 1;
  const ViewLayout layout = lay_out_view(trace, "map", options);
  EXPECT_EQ(device->downloads, 0);
  EXPECT_EQ(first_heat_map(layout.list).device, device);
  EXPECT_EQ(first_heat_map(layout.list).plane, 1);
  render_image(layout.list, 1);
  EXPECT_EQ(device->downloads, 1);
}

TEST(Map, CrossHairNamesPair) {
  const Trace trace = synthetic_trace(1, 1, 300);  // too long to label every token
  LayoutOptions options;
  const Box plot = lay_out_view(trace, "map").plot;
  options.pointer = Point{plot.x + 57.5 * plot.width / 300, plot.y + 123.5 * plot.height / 300};
  const ViewLayout layout = lay_out_view(trace, "map", options);
  EXPECT_TRUE(contains_text(layout.list, "123 ,"));
  EXPECT_TRUE(contains_text(layout.list, "57 lamp"));
  EXPECT_EQ(testing::layout_error(layout.list), "");
}

TEST(Map, OnlyFramedPictureShowsWeightUnderPointer) {
  Trace trace = synthetic_trace(1, 1, 30);  // cells too small for numbers
  Tensor& weights = trace.attention[0].result.attention;
  weights = weights.copy();
  weights(0, 20, 3) = 0.1234F;
  LayoutOptions options;
  const Box plot = lay_out_view(trace, "map").plot;
  options.pointer = Point{plot.x + 3.5 * plot.width / 30, plot.y + 20.5 * plot.height / 30};
  EXPECT_TRUE(contains_text(lay_out_view(trace, "map", options).list, "0.123"));
  options.framed = false;
  EXPECT_FALSE(contains_text(lay_out_view(trace, "map", options).list, "0.123"));
}

TEST(Map, ExplainsHowToShowSmallWeights) {
  Trace trace = synthetic_trace(1, 1, 30);
  Tensor& weights = trace.attention[0].result.attention;
  weights = weights.copy();
  LayoutOptions options;
  options.width = options.height = 1000;
  options.settings.colour_end = ColourEnd::One;
  EXPECT_FALSE(contains_text(lay_out_view(trace, "map", options).list,
                             "Half of the rows have no weight above"));
  for (float& weight : weights) weight *= 0.05F;
  // The bright first row of a causal map does not hide the hint.
  weights(0, 0, 0) = 1;
  EXPECT_TRUE(contains_text(lay_out_view(trace, "map", options).list, "(--colours percentile)"));
  options.key_of = [](HintAction) { return "N"; };
  EXPECT_TRUE(contains_text(lay_out_view(trace, "map", options).list, "(N)"));
  options.settings.colour_end = ColourEnd::Percentile;
  EXPECT_FALSE(contains_text(lay_out_view(trace, "map", options).list,
                             "Half of the rows have no weight above"));
}

// A zoom that was set for a longer text can lie beyond the end of a shorter text.
TEST(Map, ZoomBeyondShorterTextShowsWholeMap) {
  LayoutOptions options;
  options.settings.row = options.settings.column = 150;
  options.settings.height = options.settings.width = 20;
  const HeatMap map_beyond_end =
      first_heat_map(lay_out_view(synthetic_trace(1, 1, 12), "map", options).list);
  EXPECT_EQ(map_beyond_end.row, 0);
  EXPECT_EQ(map_beyond_end.height, 12);
  EXPECT_EQ(map_beyond_end.width, 12);
  // A region that is partly beyond the end is moved, not shrunk.
  const HeatMap map_at_end =
      first_heat_map(lay_out_view(synthetic_trace(1, 1, 152), "map", options).list);
  EXPECT_EQ(map_at_end.row, 142);
  EXPECT_EQ(map_at_end.height, 20);
}

// The contrast of long texts is estimated from a sample of their rows.
TEST(Map, ExplainsHowToShowSmallWeightsOfLongTexts) {
  Trace trace = synthetic_trace(1, 1, 2300);
  Tensor& weights = trace.attention[0].result.attention;
  weights = weights.copy();
  for (float& weight : weights) weight *= 0.05F;
  LayoutOptions options;
  options.settings.colour_end = ColourEnd::One;
  options.key_of = [](HintAction) { return "N"; };
  EXPECT_TRUE(
      contains_text(lay_out_view(trace, "map", options).list, "clip at 99th percentile (N)"));
  options.settings.row = options.settings.column = 1000;
  options.settings.height = options.settings.width = 50;
  EXPECT_TRUE(contains_text(lay_out_view(trace, "map", options).list,
                            "Half of the rows have no weight above"));
}

// The note and the description state the measured share of the first token.
TEST(Map, ExplainsAttentionSink) {
  const Trace even = synthetic_trace(1, 1, 24), sink = testing::with_sink(even, 0.7F);
  LayoutOptions options;
  options.width = options.height = 900;
  const std::optional<FirstTokenShare> first = first_token_share(sink.attention[0], 0);
  ASSERT_TRUE(first && first->is_sink());
  double sum = 0;
  for (Index i = 1; i < 24; ++i) {
    sum += static_cast<double>(sink.attention[0].result.attention(0, i, 0));
  }
  EXPECT_NEAR(first->share, sum / 23, 1e-6);
  EXPECT_NEAR(first->equal, 0.1207, 1e-3);  // mean of 1 / 2 to 1 / 24
  const std::string share = percent(first->share) + " of the weight";
  EXPECT_TRUE(contains_text(lay_out_view(sink, "map", options).list, share));
  EXPECT_FALSE(contains_text(lay_out_view(even, "map", options).list, "sink"));
  const auto has_term = [&](const Trace& trace) {
    const auto terms = view("map").reading(options.settings, &trace).terms;
    return std::ranges::any_of(terms, [](const auto& t) { return t.name == "Attention sink"; });
  };
  EXPECT_TRUE(has_term(sink));
  EXPECT_FALSE(has_term(even));
  set_view_value(options.settings, "map", "hide_first", true);
  EXPECT_FALSE(contains_text(lay_out_view(sink, "map", options).list, share));
}

TEST(Map, TitleAndCaptionDescribeRun) {
  Trace trace = synthetic_trace(1, 1, 8);
  trace.notes = {"Untrained: lin.e", "the text was cut"};
  LayoutOptions wide;
  wide.width = 1400;  // wide enough for a caption on one line
  const ViewLayout layout = lay_out_view(trace, "map", wide);
  EXPECT_TRUE(contains_text(layout.list, "synthetic · Full"));
  EXPECT_TRUE(contains_text(layout.list, "· layer 0, head 0"));
  EXPECT_TRUE(contains_text(layout.list, "layer 0, head 0"));
  EXPECT_TRUE(contains_text(layout.list, "8 tokens."));
  EXPECT_FALSE(contains_text(layout.list, "CPU"));
  EXPECT_TRUE(contains_text(layout.list, "Untrained: lin.e. The text was cut."));
  LayoutOptions unframed;
  unframed.framed = false;
  EXPECT_FALSE(contains_text(lay_out_view(trace, "map", unframed).list, "synthetic"));
}

TEST(Map, WidestLabelIsNotShortened) {
  for (const Index length : {2, 6, 13, 20}) {
    for (const Text& text :
         testing::texts(lay_out_view(synthetic_trace(1, 1, length), "map").list)) {
      EXPECT_EQ(text.text.find("…"), std::string::npos) << text.text << " of " << length;
    }
  }
}

TEST(Map, ItemCountHardlyDependsOnLength) {
  EXPECT_LT(lay_out_view(synthetic_trace(1, 1, 2000), "map").list.items.size(), 300u);
}

TEST(Map, PlacesColourBarBelowMapOnNarrowPages) {
  const Trace trace = synthetic_trace(1, 1, 12);
  const auto is_bar_below = [&](double width, double height) {
    LayoutOptions options;
    options.width = width;
    options.height = height;
    HeatMap colour_bar;
    const ViewLayout layout = lay_out_view(trace, "map", options);
    for (const Item& item : layout.list.items) {
      if (const HeatMap* map = std::get_if<HeatMap>(&item)) colour_bar = *map;
    }
    EXPECT_GT(layout.plot.width, 0.4 * width);
    return colour_bar.box.y > layout.plot.bottom();
  };
  EXPECT_TRUE(is_bar_below(317, 500));
  EXPECT_FALSE(is_bar_below(700, 500));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
