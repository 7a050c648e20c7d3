#include "core/figure/render.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/figure/colour_map.h"
#include "tests/support/compare.h"
#include "tests/support/picture.h"

namespace attnscope {
namespace {

constexpr Colour kRed{255, 0, 0, 255}, kBlack{0, 0, 0, 255}, kWhite{255, 255, 255, 255};

DisplayList page(double width, double height) {
  DisplayList list;
  list.width = width;
  list.height = height;
  return list;
}

HeatMap checks(Box box, Index n) {
  HeatMap map;
  map.box = box;
  map.values = Tensor({n, n});
  for (Index r = 0; r < n; ++r) {
    for (Index c = 0; c < n; ++c) map.values(r, c) = static_cast<float>((r + c) % 2);
  }
  map.height = map.width = static_cast<double>(n);
  return map;
}

// Everything once.
DisplayList sample() {
  DisplayList list = page(200, 120);
  list.items = {FilledBox{{10, 10, 40, 20}, kRed, 4},
                OutlinedBox{{60, 10, 40, 20}, kBlack, 1},
                Line{{{10, 50}, {50, 80}, {90, 50}}, kBlack, 2},
                Clip{Box{100, 0, 100, 120}},
                checks({110, 10, 80, 80}, 8),
                Clip{},
                Text{{10, 100}, "abc \xC3\xA4 <&>", kBlack, 13},
                Text{{100, 100}, "up", kBlack, 13, Align::Start, 90, true}};
  return list;
}

TEST(Render, BoxesCoverWholePixels) {
  DisplayList list = page(20, 20);
  list.items = {FilledBox{{5, 5, 10, 10}, kRed}};
  for (const double scale : {1.0, 2.0, 3.0}) {
    const Image image = render_image(list, scale);
    ASSERT_EQ(image.width, static_cast<int>(20 * scale));
    const int first = static_cast<int>(5 * scale), last = static_cast<int>(15 * scale) - 1;
    EXPECT_EQ(testing::pixel(image, first, first), kRed);
    EXPECT_EQ(testing::pixel(image, last, last), kRed);
    EXPECT_EQ(testing::pixel(image, first - 1, first), kWhite);
    EXPECT_EQ(testing::pixel(image, last + 1, last), kWhite);
  }
}

TEST(Render, LinesAreCrisp) {
  DisplayList list = page(20, 20);
  list.items = {Line{{{0, 10}, {20, 10}}, kBlack, 1}, OutlinedBox{{2, 2, 5, 5}, kBlack, 1}};
  const Image image = render_image(list, 1);
  int dark = 0;
  for (int y = 0; y < 20; ++y) {
    const Colour c = testing::pixel(image, 15, y);
    EXPECT_TRUE(c == kBlack || c == kWhite);
    dark += c == kBlack ? 1 : 0;
  }
  EXPECT_EQ(dark, 1);
}

TEST(Render, HeatMapsShowTheirCells) {
  DisplayList list = page(100, 100);
  list.items = {checks({10, 10, 80, 80}, 8)};
  const ColourMap& colours = colour_map("viridis");
  for (const double scale : {1.0, 1.5, 2.0}) {
    const Image image = render_image(list, scale);
    for (int r = 0; r < 8; ++r) {
      for (int c = 0; c < 8; ++c) {
        const int x = static_cast<int>((15 + 10 * c) * scale);
        const int y = static_cast<int>((15 + 10 * r) * scale);
        EXPECT_EQ(testing::pixel(image, x, y), colours.at((r + c) % 2));
      }
    }
    EXPECT_EQ(testing::pixel(image, 0, 0), kWhite);
  }
}

TEST(Render, ClipsAndRestores) {
  DisplayList list = page(20, 20);
  list.items = {Clip{Box{0, 0, 10, 20}}, FilledBox{{5, 5, 10, 5}, kRed}, Clip{},
                FilledBox{{5, 15, 10, 5}, kRed}};
  const Image image = render_image(list, 1);
  EXPECT_EQ(testing::pixel(image, 7, 7), kRed);
  EXPECT_EQ(testing::pixel(image, 12, 7), kWhite);
  EXPECT_EQ(testing::pixel(image, 12, 17), kRed);
}

// The box of dark pixels.
Box ink(const Image& image) {
  int left = image.width, right = -1, top = image.height, bottom = -1;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (testing::pixel(image, x, y).r > 128) continue;
      left = std::min(left, x);
      right = std::max(right, x);
      top = std::min(top, y);
      bottom = std::max(bottom, y);
    }
  }
  return {static_cast<double>(left), static_cast<double>(top),
          static_cast<double>(right - left + 1), static_cast<double>(bottom - top + 1)};
}

TEST(Render, TextLiesWhereItIsPut) {
  const std::string text = "HHHHHHHH";
  const double width = file_text_measure().width(text, 20);
  EXPECT_TRUE(std::abs(file_text_measure().width(text, 40) - 2 * width) < 0.1);
  EXPECT_TRUE(file_text_measure().width(text, 20, true) > width);
  for (const auto& [align, left] : {std::pair{Align::Start, 200.0},
                                    {Align::Middle, 200 - width / 2},
                                    {Align::End, 200 - width}}) {
    DisplayList list = page(400, 400);
    list.items = {Text{{200, 200}, text, kBlack, 20, align}};
    const Box flat = ink(render_image(list, 1));
    EXPECT_NEAR(flat.x, left, 4);
    EXPECT_NEAR(flat.width, width, 6);
    EXPECT_NEAR(flat.y + flat.height / 2, 200, 1.5);  // capitals are centred
    list.items = {Text{{200, 200}, text, kBlack, 20, align, 90}};
    const Box upright = ink(render_image(list, 1));
    EXPECT_NEAR(upright.x + upright.width / 2, 200, 1.5);
    EXPECT_NEAR(upright.bottom(), 400 - left, 4);  // runs upwards
  }
}

TEST(Render, SameInputSameBytes) {
  const PictureMetadata metadata{{"Title", "t"}, {"Experiment", "{}"}};
  testing::TemporaryFolder folder;
  for (const char* name : {"a.png", "a.svg", "a.pdf"}) {
    const auto path = folder.path() / name;
    write_picture(path, sample(), 2, metadata);
    const std::string first = read_file(path);
    write_picture(path, sample(), 2, metadata);
    EXPECT_EQ(read_file(path), first) << name;
  }
  EXPECT_EQ(read_png_metadata(folder.path() / "a.png"), metadata);
}

TEST(Render, PdfHasNoDateButTextAndTitle) {
  const std::string pdf = encode_pdf(sample(), {{"Title", "A title"}});
  EXPECT_TRUE(pdf.starts_with("%PDF-"));
  EXPECT_NE(pdf.find("%%EOF"), std::string::npos);
  EXPECT_EQ(pdf.find("CreationDate"), std::string::npos);
  EXPECT_NE(pdf.find("DejaVuSans"), std::string::npos);  // an embedded font, not outlines
  EXPECT_NE(pdf.find("A title"), std::string::npos);
}

TEST(Render, RefusesSizesAndNames) {
  EXPECT_THROW(render_image(page(0, 10), 1), InputError);
  EXPECT_THROW(render_image(page(20000, 10), 1), InputError);
  EXPECT_THROW(render_image(page(10, 10), std::nan("")), InputError);
  EXPECT_THROW(encode_pdf(page(1e9, 10), {}), InputError);
  testing::TemporaryFolder folder;
  EXPECT_THROW(write_picture(folder.path() / "a.bmp", sample(), 1, {}), InputError);
  EXPECT_THROW(write_picture(folder.path() / "a", sample(), 1, {}), InputError);
}

}  // namespace
}  // namespace attnscope
