#include "core/figure/colour_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "core/base/error.h"
#include "tests/support/golden.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

struct Lab {
  double lightness, a, b;
};

// CIE 1976 L*a*b* of an sRGB colour, white point D65.
Lab to_lab(Colour c) {
  const auto linear = [](double v) {
    v /= 255;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  const double r = linear(c.r), g = linear(c.g), b = linear(c.b);
  const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (903.3 * t + 16) / 116; };
  const double x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const double y = f(0.2126729 * r + 0.7151522 * g + 0.0721750 * b);
  const double z = f((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

TEST(ColourMap, MatchesPublishedColours) {
  EXPECT_EQ(colour_map("viridis").colours[0], (Colour{68, 1, 84, 255}));
  EXPECT_EQ(colour_map("viridis").colours[255], (Colour{253, 231, 37, 255}));
  EXPECT_EQ(colour_map("viridis").colours[128], (Colour{33, 145, 140, 255}));
  EXPECT_EQ(colour_map("magma").colours[0], (Colour{0, 0, 4, 255}));
  EXPECT_EQ(colour_map("magma").colours[255], (Colour{252, 253, 191, 255}));
  EXPECT_EQ(colour_map("cividis").colours[255], (Colour{254, 232, 56, 255}));
  EXPECT_EQ(colour_map("grey").colours[0], (Colour{255, 255, 255, 255}));
  EXPECT_EQ(colour_map("grey").colours[255], (Colour{0, 0, 0, 255}));
}

TEST(ColourMap, SequentialLightnessIsMonotone) {
  for (const ColourMap& map : colour_maps()) {
    if (map.kind != ColourMap::Kind::Sequential) continue;
    const double sign =
        to_lab(map.colours[255]).lightness > to_lab(map.colours[0]).lightness ? 1 : -1;
    double max_lightness = sign * to_lab(map.colours[0]).lightness;
    for (const Colour& c : map.colours) {
      const double lightness = sign * to_lab(c).lightness;
      EXPECT_TRUE(lightness >= max_lightness - 0.5) << map.id;  // tolerates 8-bit rounding
      max_lightness = std::max(max_lightness, lightness);
    }
    EXPECT_TRUE(max_lightness - sign * to_lab(map.colours[0]).lightness > 50) << map.id;
  }
}

TEST(ColourMap, DivergingLightnessReversesInTheMiddle) {
  for (const ColourMap& map : colour_maps()) {
    if (!map.diverging()) continue;
    const double ends = to_lab(map.colours[0]).lightness,
                 middle = to_lab(map.colours[128]).lightness;
    const double sign = middle > ends ? 1 : -1;
    EXPECT_TRUE(sign * (middle - ends) > 40) << map.id;
    EXPECT_TRUE(sign * (middle - to_lab(map.colours[255]).lightness) > 40) << map.id;
    const Lab neutral = to_lab(map.colours[128]);
    EXPECT_TRUE(std::hypot(neutral.a, neutral.b) < 12) << map.id;
  }
}

double colour_difference(Colour a, Colour b) {
  const Lab p = to_lab(a), q = to_lab(b);
  return std::hypot(q.lightness - p.lightness, std::hypot(q.a - p.a, q.b - p.b));
}

TEST(ColourMap, DivergingColoursContrastWithTheBackground) {
  for (const Theme& theme : {Theme::light(), Theme::dark()}) {
    const ColourMap& map = colour_map(diverging_colours(theme));
    ASSERT_TRUE(map.diverging());
    const bool is_dark = to_lab(theme.background).lightness < 50;
    EXPECT_TRUE(colour_difference(map.at(0.5), theme.background) > (is_dark ? 20 : 5)) << map.id;
    // Values of ±0.1 times the maximum are distinguishable from zero and from each other.
    const double min_difference = is_dark ? 12 : 5;
    EXPECT_TRUE(colour_difference(map.at(0.55), map.at(0.5)) > min_difference) << map.id;
    EXPECT_TRUE(colour_difference(map.at(0.45), map.at(0.5)) > min_difference) << map.id;
    EXPECT_TRUE(colour_difference(map.at(0.45), map.at(0.55)) > min_difference) << map.id;
  }
}

TEST(ColourMap, StepsAreEven) {
  for (const ColourMap& map : colour_maps()) {
    double total = 0, largest = 0;
    constexpr std::size_t kStep = 16;
    std::size_t count = 0;
    for (std::size_t i = 0; i + kStep < 256; i += kStep, ++count) {
      const Lab p = to_lab(map.colours[i]), q = to_lab(map.colours[i + kStep]);
      const double step = std::hypot(q.lightness - p.lightness, std::hypot(q.a - p.a, q.b - p.b));
      total += step;
      largest = std::max(largest, step);
    }
    EXPECT_TRUE(largest < 3 * total / static_cast<double>(count)) << map.id;
  }
}

TEST(ColourMap, ClampsValues) {
  const ColourMap& map = colour_map("viridis");
  EXPECT_EQ(map.at(0), map.colours[0]);
  EXPECT_EQ(map.at(-3), map.colours[0]);
  EXPECT_EQ(map.at(1), map.colours[255]);
  EXPECT_EQ(map.at(std::numeric_limits<double>::infinity()), map.colours[255]);
  EXPECT_EQ(map.at(0.5), map.colours[128]);
  EXPECT_EQ(map.at(std::nan("")), (Colour{128, 128, 128, 255}));
}

TEST(ColourMap, CategoriesRepeatByInteger) {
  const ColourMap& map = colour_map(kCategories);
  std::set<std::tuple<int, int, int>> distinct_colours;
  for (int n = 0; n < 256; ++n) {
    EXPECT_EQ(map.at(n / 255.0), map.colours[static_cast<std::size_t>(n)]) << n;
    if (n < 7) {
      const Colour c = map.at(n / 255.0);
      distinct_colours.insert({c.r, c.g, c.b});
    }
  }
  EXPECT_EQ(distinct_colours.size(), 7u);
}

TEST(ColourMap, UnknownIdErrorListsKnownIds) {
  try {
    colour_map("jet");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("viridis"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("\"jet\""), std::string::npos);
  }
}

// The golden file lists all colours, including computed ones.
TEST(ColourMap, MatchesGolden) {
  std::string text;
  const auto append_map = [&](const ColourMap& map) {
    text += map.id;
    for (std::size_t i = 0; i < map.colours.size(); ++i) {
      const Colour c = map.colours[i];
      char word[16];
      std::snprintf(word, sizeof(word), "%s%02x%02x%02x", i % 12 == 0 ? "\n  " : " ", c.r, c.g,
                    c.b);
      text += word;
      EXPECT_EQ(c.a, 255) << map.id;
    }
    text += "\n";
  };
  for (const ColourMap& map : colour_maps()) append_map(map);
  append_map(colour_map(kCategories));
  EXPECT_TRUE(testing::matches_golden(text, "core/figure/colours.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
