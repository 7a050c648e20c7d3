// Compares heat-map cells of stored attention with cells computed for the visible region.
#include "core/view/parts/range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <thread>
#include <vector>

#include "core/attention/backend.h"
#include "core/attention/map_pyramid.h"
#include "core/figure/heat_map.h"
#include "tests/support/compare.h"
#include "tests/support/picture.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// The same head with a stored map (`stored_`) and with a map derived on demand (`derived_`).
class DerivedMaps : public ::testing::Test {
 protected:
  static constexpr Index length = 900;

  DerivedMaps() {
    Part part;
    part.q = testing::random_tensor({1, length, 8}, 1);
    part.k = testing::random_tensor({1, length, 8}, 2);
    part.pattern = std::make_shared<const Pattern>(Pattern::causal(length, length));
    ResultRequest wanted{.output = false, .attention = true, .tiles = true};
    const PartResult result = cpu_backend().run(part, wanted);
    trace_ = testing::synthetic_trace(1, 1, length);
    stored_ = trace_.attention[0];
    stored_.result.attention = result.attention;
    derived_ = stored_;
    derived_.result.attention = Tensor();
    derived_.result.tiles = result.tiles;
    derived_.vectors = AttentionVectors{.part = std::make_shared<const Part>(part)};
    trace_.attention[0] = derived_;
  }

  ViewInput input(const Findings& findings = {}) const {
    return {
        .trace = trace_,
        .session = session_,
        .findings = findings,
        .canvas = {
            .width = 300, .height = 300, .theme = Theme::light(), .measure = file_text_measure()}};
  }
  static HeatMap map(double row, double column, double extent, double pixels) {
    HeatMap cells;
    cells.box = {0, 0, pixels, pixels};
    cells.row = row;
    cells.column = column;
    cells.height = cells.width = extent;
    return cells;
  }

  Trace trace_;
  Session session_;
  AttentionTap stored_, derived_;
};

TEST_F(DerivedMaps, MatchStoredMaps) {
  struct Place {
    double row, column, extent, pixels;
  };
  // Stored and derived maps pool the same cells if pixels cover whole numbers of cells.
  for (const auto& [row, column, extent, pixels] :
       {Place{0, 0, 800, 100}, Place{8, 80, 640, 80}, Place{100, 40, 200, 200},
        Place{850.5, 860.25, 30, 120}, Place{-40, -40, 1000, 1000}}) {
    HeatMap a = map(row, column, extent, pixels), b = a;
    set_cells(a, input(), stored_, 0);
    const ShownCells shown = set_cells(b, input(), derived_, 0);
    EXPECT_EQ(shown.exact, 1);
    const int size = static_cast<int>(pixels);
    const Tensor expected = heat_map_pixels(a, size, size), actual = heat_map_pixels(b, size, size);
    for (Index i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(std::isnan(expected[i]), std::isnan(actual[i])) << i;
      if (std::isnan(actual[i])) continue;
      ASSERT_TRUE(std::abs(expected[i] - actual[i]) <= 1e-6) << i;
    }
    EXPECT_NEAR(largest_visible_magnitude(a), largest_visible_magnitude(b), 1e-6);
  }
}

TEST_F(DerivedMaps, LiveMapsBecomeExactGradually) {
  const Findings live = live_findings({});
  const std::shared_ptr<MapPyramid> maps = live.get(Findings::maps);
  ViewLayout layout;
  const auto lay_out = [&] {
    maps->begin();
    layout = view("map").lay_out(input(live));
    maps->end();
  };
  lay_out();
  EXPECT_NE(layout.pending.find("0% exact"), std::string::npos) << layout.pending;
  for (int i = 0; i < 10000 && !layout.pending.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lay_out();
  }
  EXPECT_EQ(layout.pending, "");
}

// The colours end at the 99th percentile of the thumbnail's cells, below the first token's weight.
TEST_F(DerivedMaps, GridScalesColoursToItsCells) {
  const ViewLayout layout = view("grid").lay_out(input());
  const HeatMap* map = nullptr;
  for (const Item& item : layout.list.items) {
    const HeatMap* found = std::get_if<HeatMap>(&item);
    if (map == nullptr && found != nullptr && !found->hollow) map = found;
  }
  ASSERT_NE(map, nullptr);
  std::vector<float> weights;
  std::ranges::copy_if(map->values, std::back_inserter(weights), [](float w) { return w > 0; });
  ASSERT_FALSE(weights.empty());
  EXPECT_FLOAT_EQ(*std::ranges::max_element(weights), 1);
  const auto above = std::ranges::count_if(weights, [&](float w) { return w > map->most; });
  const double share = static_cast<double>(above) / static_cast<double>(weights.size());
  EXPECT_TRUE(share > 0.002 && share < 0.02) << share << " above " << map->most;
}

TEST_F(DerivedMaps, AreSignedWithoutNormaliser) {
  EXPECT_FALSE(is_signed(derived_, 0));
  Part part = *derived_.part();
  part.normaliser = Normaliser::None;
  derived_.vectors = AttentionVectors{.part = std::make_shared<const Part>(part)};
  EXPECT_TRUE(is_signed(derived_, 0));
}

TEST(Extent, IncludesPartialCells) {
  const auto expect = [](const Extent& extent, Index first, Index last) {
    EXPECT_EQ(extent.first, first);
    EXPECT_EQ(extent.last, last);
  };
  expect(visible_extent(2, 3, 10), 2, 5);
  expect(visible_extent(2.5, 3, 10), 2, 6);
  expect(visible_extent(-4, 6, 10), 0, 2);
  expect(visible_extent(8, 50, 10), 8, 10);
  expect(visible_extent(20, 5, 10), 10, 10);
}

// Rows with one key, whose weight is always 1, do not determine the end of the colour range. The
// colour bar states that their weights exceed this end.
TEST(ColourRange, AccountsForRowsWithOneKey) {
  Trace trace = testing::synthetic_trace(1, 1, 3);
  AttentionTap& tap = trace.attention[0];
  const auto range_of = [&](float weight) {
    tap.result.attention =
        Tensor::from({1, 3, 3}, {1, 0, 0, 1 - weight, weight, 0, 1 - weight, weight, 0});
    HeatMap cells;
    cells.values = tap.attention(0);
    cells.height = cells.width = 3;
    const Session session;
    return colour_range({.trace = trace,
                         .session = session,
                         .canvas = {.width = 300,
                                    .height = 300,
                                    .theme = Theme::light(),
                                    .measure = file_text_measure()}},
                        cells, tap, 0, false);
  };
  const ColourRange low = range_of(0.5F);
  EXPECT_NEAR(low.most, 0.5, 1e-6);
  EXPECT_TRUE(low.passed);
  EXPECT_EQ(ticks_of(low, 4).back().text, "≥ 0.5");
  const ColourRange nearly_one = range_of(0.9F);
  EXPECT_EQ(nearly_one.most, 1);
  EXPECT_FALSE(nearly_one.passed);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
