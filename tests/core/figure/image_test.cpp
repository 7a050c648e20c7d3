#include "core/figure/image.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/figure/render.h"
#include "core/figure/svg.h"
#include "tests/support/picture.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Bytes = std::vector<std::uint8_t>;

TEST(Image, QuantisesColours) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  const Image rgb_image = image_of(Tensor::from({1, 2, 3}, {0, 0.5f, 1, -3, 7, kNone}));
  EXPECT_EQ(rgb_image.width, 2);
  EXPECT_EQ(rgb_image.height, 1);
  EXPECT_EQ(rgb_image.rgba, (Bytes{0, 128, 255, 255, 0, 255, 0, 255}));
  const Image rgba_image = image_of(Tensor::from({2, 1, 4}, {1, 0, 0, 0, 0, 1, 0, 0.2f}));
  EXPECT_EQ(rgba_image.width, 1);
  EXPECT_EQ(rgba_image.height, 2);
  EXPECT_EQ(rgba_image.rgba, (Bytes{255, 0, 0, 0, 0, 255, 0, 51}));
}

TEST(Image, ResizesByPixelCentres) {
  const Image image{2, 1, {1, 2, 3, 4, 5, 6, 7, 8}};
  const Image enlarged = resized(image, 5, 2);
  Bytes expected;
  for (int row = 0; row < 2; ++row) {
    for (const int pixel : {0, 0, 1, 1, 1}) {  // the third centre is on the boundary
      expected.insert(expected.end(), image.rgba.begin() + 4 * pixel,
                      image.rgba.begin() + 4 * (pixel + 1));
    }
  }
  EXPECT_EQ(enlarged.rgba, expected);
  EXPECT_EQ(resized(enlarged, 2, 1).rgba, image.rgba);
}

DisplayList make_list(const ColourImage& image) {
  DisplayList list;
  list.width = list.height = 40;
  list.items = {image};
  return list;
}

Tensor stripes(Index rows, Index columns) {
  Tensor colours({rows, columns, 3});
  for (Index i = 0; i < rows * columns; ++i) {
    for (Index c = 0; c < 3; ++c) colours[3 * i + c] = (i % columns + c) % 2 == 0 ? 1.0f : 0.0f;
  }
  return colours;
}

TEST(ColourImage, EnlargesWholePixels) {
  const Tensor colours = stripes(3, 4);
  const Image page = render_image(make_list({{4, 8, 32, 24}, colours}), 1);
  const Image expected_image = image_of(colours);
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 40; ++x) {
      const auto* pixel = page.rgba.data() + 4 * (y * 40 + x);
      const bool is_inside = x >= 4 && x < 36 && y >= 8 && y < 32;
      for (int c = 0; c < 3; ++c) {
        const int expected_level =
            is_inside ? expected_image
                            .rgba[static_cast<std::size_t>(4 * ((y - 8) / 8 * 4 + (x - 4) / 8) + c)]
                      : 255;
        ASSERT_EQ(static_cast<int>(pixel[c]), expected_level) << x << ", " << y;
      }
    }
  }
}

TEST(ColourImage, ShrinksToMeans) {
  const Image page = render_image(make_list({{0, 0, 40, 40}, stripes(320, 320)}), 1);
  for (int position = 5; position < 35; ++position) {
    for (int c = 0; c < 3; ++c) {
      EXPECT_NEAR(
          static_cast<int>(page.rgba[static_cast<std::size_t>(4 * (position * 40 + position) + c)]),
          128, 4)
          << position;
    }
  }
}

TEST(ColourImage, BlendsTransparentPixels) {
  const ColourImage image{{0, 0, 40, 40}, Tensor::from({1, 1, 4}, {0, 0, 0, 0.6f})};
  const Image page = render_image(make_list(image), 1);
  EXPECT_NEAR(static_cast<int>(page.rgba[4 * (20 * 40 + 20)]), 102, 1);  // 0.4 * 255
}

TEST(ColourImage, IsEmbeddedInSvg) {
  const std::string svg = encode_svg(make_list({{4, 8, 32, 24}, stripes(3, 4)}), {});
  EXPECT_EQ(testing::xml_error(svg), "");
  EXPECT_NE(svg.find("<image x=\"4\" y=\"8\" width=\"32\" height=\"24\""), std::string::npos);
  EXPECT_EQ(encode_svg(make_list({{4, 8, 32, 24}, Tensor()}), {}).find("<image"),
            std::string::npos);
}

// Compares with the definition: a result pixel equals the source pixel under its centre.
TEST(Image, ResizesToAnySize) {
  Image image{3, 5, {}};
  for (int n = 0; n < 60; ++n) image.rgba.push_back(static_cast<std::uint8_t>(n * 37));
  for (const auto& [width, height] : {std::pair{1, 1}, {3, 5}, {7, 2}, {2, 11}, {17, 6}}) {
    const Image result = resized(image, width, height);
    ASSERT_EQ(result.width, width);
    ASSERT_EQ(result.height, height);
    ASSERT_EQ(result.rgba.size(), static_cast<std::size_t>(4 * width * height));
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int row = static_cast<int>((y + 0.5) * 5 / height + 1e-9);
        const int column = static_cast<int>((x + 0.5) * 3 / width + 1e-9);
        EXPECT_EQ(testing::pixel(result, x, y), testing::pixel(image, column, row))
            << x << ", " << y;
      }
    }
  }
}

TEST(Image, KeepsRowOrder) {
  Tensor colours({3, 2, 3});
  for (Index n = 0; n < 18; ++n) colours[n] = static_cast<float>(n * 10) / 255;
  const Image image = image_of(colours);
  ASSERT_EQ(image.rgba.size(), 24u);
  for (int n = 0; n < 6; ++n) {
    const auto level = [&](int c) { return static_cast<std::uint8_t>(10 * (3 * n + c)); };
    EXPECT_EQ(testing::pixel(image, n % 2, n / 2), (Colour{level(0), level(1), level(2), 255}));
  }
}

// On a transparent page, colours are exact up to premultiplication.
TEST(ColourImage, KeepsColoursOnATransparentPage) {
  Tensor colours({4, 4, 4});
  for (Index n = 0; n < 64; ++n) {
    colours[n] = static_cast<float>(n % 4 == 3 ? 255 - n * 3 : (n * 97) % 256) / 255;
  }
  DisplayList list = make_list({{4, 8, 4, 4}, colours});
  list.background = {0, 0, 0, 0};
  const Image page = render_image(list, 1);
  const Image expected_image = image_of(colours);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      const Colour c = testing::pixel(expected_image, x, y);
      const auto premultiplied_and_back = [&](int v) {
        const int multiplied = (v * c.a + 127) / 255;
        return static_cast<std::uint8_t>((multiplied * 255 + c.a / 2) / c.a);
      };
      const Colour expected{premultiplied_and_back(c.r), premultiplied_and_back(c.g),
                            premultiplied_and_back(c.b), c.a};
      EXPECT_EQ(testing::pixel(page, x + 4, y + 8), expected) << x << ", " << y;
    }
  }
  EXPECT_EQ(testing::pixel(page, 3, 8), (Colour{0, 0, 0, 0}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
