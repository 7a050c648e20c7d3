#include "core/figure/heat_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/figure/colour_map.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

const float kNan = std::numeric_limits<float>::quiet_NaN();

// Returns the value of a pixel, computed from the definition. NaN if the pixel covers no number.
float expected_pixel(const HeatMap& map, int width, int height, int x, int y) {
  const auto covers = [](double start, double extent, int pixels, int p, bool pooled, Index cell) {
    const double low = start + extent * p / pixels, high = start + extent * (p + 1) / pixels;
    const auto c = static_cast<double>(cell);
    if (pooled && extent > pixels) return c + 1 > low + 1e-9 && c < high - 1e-9;
    return c <= (low + high) / 2 && (low + high) / 2 < c + 1;
  };
  const bool uses_magnitude = colour_map(map.colour_map).diverging();
  float maximum = kNan;
  for (Index r = 0; r < map.values.dim(0); ++r) {
    if (!covers(map.row, map.height, height, y, map.max_pooled, r)) continue;
    for (Index c = 0; c < map.values.dim(1); ++c) {
      if (!covers(map.column, map.width, width, x, map.max_pooled, c)) continue;
      const float v = map.values(r, c);
      if (std::isnan(v)) continue;
      const bool is_larger = uses_magnitude ? std::abs(v) > std::abs(maximum) : v > maximum;
      if (std::isnan(maximum) || is_larger) maximum = v;
    }
  }
  return maximum;
}

void expect_matches_definition(const HeatMap& map, int width, int height) {
  const Tensor pixels = heat_map_pixels(map, width, height);
  ASSERT_EQ(pixels.shape(), (Shape{height, width}));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float expected = expected_pixel(map, width, height, x, y);
      const float actual = pixels(y, x);
      ASSERT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected)))
          << "pixel " << x << ", " << y << ": " << actual << " instead of " << expected;
    }
  }
}

HeatMap whole_map(const Tensor& values) {
  HeatMap map;
  map.values = values;
  map.height = static_cast<double>(values.dim(0));
  map.width = static_cast<double>(values.dim(1));
  return map;
}

TEST(HeatMap, PoolsExactly) {
  for (const auto& [rows, columns] :
       {std::pair<Index, Index>{1, 1}, {7, 13}, {64, 64}, {97, 301}}) {
    HeatMap map = whole_map(testing::random_tensor({rows, columns}, 3));
    for (Index i = 0; i < map.values.size(); i += 5) map.values[i] = kNan;
    expect_matches_definition(map, 31, 23);
    expect_matches_definition(map, 64, 64);
    map.max_pooled = false;
    expect_matches_definition(map, 31, 23);
    map.max_pooled = true;
    map.colour_map = "vik";
    expect_matches_definition(map, 31, 23);
  }
}

TEST(HeatMap, SupportsRangesThatCutCells) {
  HeatMap map = whole_map(testing::random_tensor({50, 80}, 4));
  map.row = 10.25;
  map.height = 3.5;
  map.column = -2.5;
  map.width = 90.75;
  expect_matches_definition(map, 40, 33);
  const Tensor pixels = heat_map_pixels(map, 40, 33);
  EXPECT_TRUE(std::isnan(pixels(0, 0)));  // left of the matrix
}

TEST(HeatMap, KeepsThinDiagonals) {
  const Index n = 2000;
  Tensor values = Tensor::zeros({n, n});
  for (Index i = 0; i < n; ++i) values(i, i) = 1;
  const Tensor pixels = heat_map_pixels(whole_map(values), 100, 100);
  for (Index i = 0; i < 100; ++i) EXPECT_EQ(pixels(i, i), 1.0f);
  EXPECT_EQ(pixels(0, 1), 0.0f);
}

TEST(HeatMap, AppliesColours) {
  HeatMap map = whole_map(Tensor::from({1, 4}, {0, 0.5, 2, kNan}));
  map.missing = {1, 2, 3, 4};
  const Image image = rasterise(map, 4, 1);
  const auto pixel_colour = [&](std::size_t x) {
    return Colour{image.rgba[4 * x], image.rgba[4 * x + 1], image.rgba[4 * x + 2],
                  image.rgba[4 * x + 3]};
  };
  const ColourMap& colours = colour_map("viridis");
  EXPECT_EQ(pixel_colour(0), colours.colours[0]);
  EXPECT_EQ(pixel_colour(1), colours.at(0.5));
  EXPECT_EQ(pixel_colour(2), colours.colours[255]);
  EXPECT_EQ(pixel_colour(3), (Colour{1, 2, 3, 4}));
}

TEST(HeatMap, ShowsAnEmptyMatrixAsMissing) {
  HeatMap map = whole_map(Tensor({0, 5}));
  map.height = 1;
  for (const float v : heat_map_pixels(map, 3, 3)) EXPECT_TRUE(std::isnan(v));
}

// Device tensor whose values are in main memory.
class FakeDevice : public DeviceTensor {
 public:
  explicit FakeDevice(Tensor values) : values_(std::move(values)) {}
  Shape shape() const override { return values_.shape(); }
  Tensor download() const override { return values_; }

 private:
  Tensor values_;
};

TEST(HeatMap, DownloadsFromADevice) {
  const Tensor values = testing::random_tensor({2, 3, 5}, 5);
  HeatMap map;
  map.device = std::make_shared<FakeDevice>(values);
  map.plane = 1;
  map.height = 3;
  map.width = 5;
  const Tensor pixels = heat_map_pixels(map, 5, 3);
  for (Index r = 0; r < 3; ++r) {
    for (Index c = 0; c < 5; ++c) EXPECT_EQ(pixels(r, c), values(1, r, c));
  }
}

TEST(HeatMap, SupportsAnyRange) {
  HeatMap map = whole_map(testing::random_tensor({60, 90}, 6));
  map.row = 7.5;
  map.height = 40;  // as many cells as pixels; cells begin in the middle of pixels
  map.column = 30.25;
  map.width = 55.5;
  expect_matches_definition(map, 17, 40);
  map.column = 50.5;
  map.width = 45;  // beyond the last cell
  expect_matches_definition(map, 45, 13);
  map.width = 0;
  for (const float v : heat_map_pixels(map, 4, 4)) EXPECT_TRUE(std::isnan(v));
  map.width = 45;
  map.height = 0;
  for (const float v : heat_map_pixels(map, 4, 4)) EXPECT_TRUE(std::isnan(v));
}

// Among values of equal magnitude, the positive value wins in any order.
TEST(HeatMap, PrefersPositiveValues) {
  HeatMap map = whole_map(Tensor::from({2, 4}, {-2, 2, 1, -1, 2, -2, 0, -1}));
  map.colour_map = "vik";
  const Tensor pixels = heat_map_pixels(map, 2, 1);
  EXPECT_EQ(pixels(0, 0), 2);
  EXPECT_EQ(pixels(0, 1), 1);
  const Tensor rows = heat_map_pixels(map, 4, 1);
  EXPECT_EQ(rows(0, 0), 2);
  EXPECT_EQ(rows(0, 1), 2);
}

TEST(HeatMap, ClampsColoursAndSupportsHollowMaps) {
  HeatMap map = whole_map(Tensor::from({1, 3}, {3, 5, kNan}));
  map.missing = {9, 8, 7, 6};
  const ColourMap& colours = colour_map("viridis");
  const auto pixel_colour = [&](int x) {
    const Image image = rasterise(map, 3, 1);
    const auto n = static_cast<std::size_t>(4 * x);
    return Colour{image.rgba[n], image.rgba[n + 1], image.rgba[n + 2], image.rgba[n + 3]};
  };
  map.least = 1;
  map.most = 9;
  EXPECT_EQ(pixel_colour(0), colours.at(0.25));
  EXPECT_EQ(pixel_colour(1), colours.at(0.5));
  map.least = map.most = 3;  // empty range
  EXPECT_EQ(pixel_colour(0), colours.colours[0]);
  EXPECT_EQ(pixel_colour(1), colours.colours[0]);
  map.hollow = true;
  EXPECT_EQ(pixel_colour(0), (Colour{0, 0, 0, 0}));
  EXPECT_EQ(pixel_colour(2), (Colour{9, 8, 7, 6}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
