#include "core/figure/render.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/figure/colour_map.h"
#include "tests/support/compare.h"
#include "tests/support/picture.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Colour kRed{255, 0, 0, 255}, kBlack{0, 0, 0, 255}, kWhite{255, 255, 255, 255};

DisplayList make_page(double width, double height) {
  DisplayList list;
  list.width = width;
  list.height = height;
  return list;
}

HeatMap make_checkerboard(Box box, Index n) {
  HeatMap map;
  map.box = box;
  map.values = Tensor({n, n});
  for (Index r = 0; r < n; ++r) {
    for (Index c = 0; c < n; ++c) map.values(r, c) = static_cast<float>((r + c) % 2);
  }
  map.height = map.width = static_cast<double>(n);
  return map;
}

// Returns a list with items of every kind.
DisplayList make_list() {
  DisplayList list = make_page(200, 120);
  list.items = {FilledBox{{10, 10, 40, 20}, kRed, 4},
                OutlinedBox{{60, 10, 40, 20}, kBlack, 1},
                Line{{{10, 50}, {50, 80}, {90, 50}}, kBlack, 2},
                Clip{Box{100, 0, 100, 120}},
                make_checkerboard({110, 10, 80, 80}, 8),
                Clip{},
                Text{{10, 100}, "abc \xC3\xA4 <&>", kBlack, 13},
                Text{{100, 100}, "up", kBlack, 13, Align::Start, 90, true}};
  return list;
}

TEST(Render, BoxesCoverWholePixels) {
  DisplayList list = make_page(20, 20);
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

TEST(Render, SnapsLinesToPixels) {
  DisplayList list = make_page(20, 20);
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

TEST(Render, DrawsCellsOfHeatMaps) {
  DisplayList list = make_page(100, 100);
  list.items = {make_checkerboard({10, 10, 80, 80}, 8)};
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

TEST(Render, PushesAndPopsClips) {
  DisplayList list = make_page(20, 20);
  list.items = {Clip{Box{0, 0, 10, 20}}, FilledBox{{5, 5, 10, 5}, kRed}, Clip{},
                FilledBox{{5, 15, 10, 5}, kRed}};
  const Image image = render_image(list, 1);
  EXPECT_EQ(testing::pixel(image, 7, 7), kRed);
  EXPECT_EQ(testing::pixel(image, 12, 7), kWhite);
  EXPECT_EQ(testing::pixel(image, 12, 17), kRed);
}

// Bounding box of dark pixels.
Box find_dark_box(const Image& image) {
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

TEST(Render, PlacesText) {
  const std::string text = "HHHHHHHH";
  const double width = file_text_measure().width(text, 20);
  EXPECT_TRUE(std::abs(file_text_measure().width(text, 40) - 2 * width) < 0.1);
  EXPECT_TRUE(file_text_measure().width(text, 20, true) > width);
  for (const auto& [align, left] : {std::pair{Align::Start, 200.0},
                                    {Align::Middle, 200 - width / 2},
                                    {Align::End, 200 - width}}) {
    DisplayList list = make_page(400, 400);
    list.items = {Text{{200, 200}, text, kBlack, 20, align}};
    const Box horizontal_box = find_dark_box(render_image(list, 1));
    EXPECT_NEAR(horizontal_box.x, left, 4);
    EXPECT_NEAR(horizontal_box.width, width, 6);
    EXPECT_NEAR(horizontal_box.y + horizontal_box.height / 2, 200, 1.5);  // capitals are centred
    list.items = {Text{{200, 200}, text, kBlack, 20, align, 90}};
    const Box vertical_box = find_dark_box(render_image(list, 1));
    EXPECT_NEAR(vertical_box.x + vertical_box.width / 2, 200, 1.5);
    EXPECT_NEAR(vertical_box.bottom(), 400 - left, 4);  // runs upwards
  }
}

TEST(Render, IsDeterministic) {
  const PictureMetadata metadata{{"Title", "t"}, {"Experiment", "{}"}};
  testing::TemporaryFolder folder;
  for (const char* name : {"a.png", "a.svg", "a.pdf"}) {
    const auto path = folder.path() / name;
    write_picture(path, make_list(), 2, metadata);
    const std::string first = read_file(path);
    write_picture(path, make_list(), 2, metadata);
    EXPECT_EQ(read_file(path), first) << name;
  }
  EXPECT_EQ(read_png_metadata(folder.path() / "a.png"), metadata);
}

TEST(Render, PdfHasTextAndTitleButNoDate) {
  const std::string pdf = encode_pdf(make_list(), {{"Title", "A title"}});
  EXPECT_TRUE(pdf.starts_with("%PDF-"));
  EXPECT_NE(pdf.find("%%EOF"), std::string::npos);
  EXPECT_EQ(pdf.find("CreationDate"), std::string::npos);
  // Text uses an embedded font, not outlines.
  EXPECT_TRUE(pdf.find("Inter-") != std::string::npos ||
              pdf.find("DejaVuSans") != std::string::npos);
  EXPECT_NE(pdf.find("A title"), std::string::npos);
}

TEST(Render, RejectsInvalidSizesAndNames) {
  EXPECT_THROW(render_image(make_page(0, 10), 1), InputError);
  EXPECT_THROW(render_image(make_page(20000, 10), 1), InputError);
  EXPECT_THROW(render_image(make_page(10, 10), std::nan("")), InputError);
  EXPECT_THROW(encode_pdf(make_page(1e9, 10), {}), InputError);
  testing::TemporaryFolder folder;
  EXPECT_THROW(write_picture(folder.path() / "a.bmp", make_list(), 1, {}), InputError);
  EXPECT_THROW(write_picture(folder.path() / "a", make_list(), 1, {}), InputError);
}

// A horizontal line covers as many rows as its thickness, none of them grey.
TEST(Render, StrokesCoverWholePixels) {
  for (const double scale : {1.0, 2.0, 3.0}) {
    for (const double thickness : {0.2, 1.0, 2.0, 3.0, 4.0}) {
      DisplayList list = make_page(20, 20);
      list.items = {Line{{{0, 10}, {20, 10}}, kBlack, thickness}};
      const Image horizontal = render_image(list, scale);
      list.items = {Line{{{10, 0}, {10, 20}}, kBlack, thickness}};
      const Image vertical = render_image(list, scale);
      const int expected = std::max(1, static_cast<int>(std::lround(thickness * scale)));
      int dark = 0;
      double middle = 0;
      for (int position = 0; position < horizontal.height; ++position) {
        const Colour c = testing::pixel(horizontal, horizontal.width / 2, position);
        EXPECT_TRUE(c == kBlack || c == kWhite);
        EXPECT_EQ(testing::pixel(vertical, position, horizontal.width / 2), c);
        if (c == kWhite) continue;
        ++dark;
        middle += position + 0.5;
      }
      EXPECT_EQ(dark, expected) << thickness << " x " << scale;
      EXPECT_NEAR(middle / dark, 10 * scale, 0.5 + 1e-9);
      // The line begins at its first point.
      EXPECT_EQ(testing::pixel(horizontal, 0, static_cast<int>(middle / dark)), kBlack);
    }
  }
}

TEST(Render, StraightLinesHaveButtCaps) {
  DisplayList list = make_page(20, 20);
  list.items = {Line{{{5, 10}, {15, 10}}, kBlack, 4}};
  const Image image = render_image(list, 1);
  EXPECT_EQ(testing::pixel(image, 5, 10), kBlack);
  EXPECT_EQ(testing::pixel(image, 4, 10), kWhite);
  EXPECT_EQ(testing::pixel(image, 14, 10), kBlack);
  EXPECT_EQ(testing::pixel(image, 15, 10), kWhite);
  // A horizontal line with three points has round caps.
  list.items = {Line{{{5, 10}, {9, 10}, {15, 10}}, kBlack, 4}};
  EXPECT_EQ(testing::pixel(render_image(list, 1), 3, 10).r < 200, true);
}

TEST(Render, CentresOutlinesOnEdges) {
  for (const int thickness : {1, 2, 3}) {
    DisplayList list = make_page(30, 30);
    list.items = {OutlinedBox{{8, 6, 10, 14}, kBlack, static_cast<double>(thickness)}};
    const Image image = render_image(list, 1);
    const int outside = thickness / 2,
              inside = thickness - outside;  // pixels on both sides of an edge
    for (int y = 0; y < 30; ++y) {
      for (int x = 0; x < 30; ++x) {
        const auto is_on_stroke = [&](int position, int edge) {
          // A stroke of odd thickness may be shifted by one pixel to either side, equally for all
          // edges.
          return thickness % 2 == 0 ? position >= edge - outside && position < edge + inside
                                    : std::abs(position - edge) <= outside ||
                                          std::abs(position + 1 - edge) <= outside;
        };
        const bool is_near =
            is_on_stroke(x, 8) || is_on_stroke(x, 18) || is_on_stroke(y, 6) || is_on_stroke(y, 20);
        if (!is_near || x < 8 - inside || x >= 18 + inside || y < 6 - inside || y >= 20 + inside) {
          EXPECT_EQ(testing::pixel(image, x, y), kWhite) << x << ", " << y;
        }
      }
    }
    int across = 0, down = 0;
    for (int n = 0; n < 30; ++n) {
      across += testing::pixel(image, n, 12) == kBlack ? 1 : 0;
      down += testing::pixel(image, 12, n) == kBlack ? 1 : 0;
    }
    EXPECT_EQ(across, 2 * thickness);
    EXPECT_EQ(down, 2 * thickness);
  }
}

// Compares with the distance of each pixel from the centre of its corner's circle.
TEST(Render, RoundsCorners) {
  for (const double radius : {6.0, 100.0}) {  // 100 is clamped to half the box's height
    const Box box{4, 6, 30, 20};
    const double r = std::min(radius, 10.0);
    DisplayList list = make_page(40, 32);
    list.items = {FilledBox{box, kRed, radius}};
    const Image image = render_image(list, 1);
    for (int y = 0; y < 32; ++y) {
      for (int x = 0; x < 40; ++x) {
        const double px = x + 0.5, py = y + 0.5;
        const double dx = std::max({box.x + r - px, px - (box.right() - r), 0.0});
        const double dy = std::max({box.y + r - py, py - (box.bottom() - r), 0.0});
        const double distance = std::hypot(dx, dy) - r;
        if (distance < -1) {
          EXPECT_EQ(testing::pixel(image, x, y), kRed) << x << ", " << y;
        } else if (distance > 1) {
          EXPECT_EQ(testing::pixel(image, x, y), kWhite) << x << ", " << y;
        }
      }
    }
  }
}

TEST(Render, ToleratesUnbalancedClips) {
  DisplayList list = make_page(20, 20);
  list.items = {Clip{}, Clip{Box{0, 0, 10, 20}},        Clip{},
                Clip{}, FilledBox{{5, 5, 10, 5}, kRed}, Clip{Box{0, 0, 1, 1}}};
  const Image image = render_image(list, 1);
  EXPECT_EQ(testing::pixel(image, 12, 7), kRed);
  EXPECT_EQ(testing::pixel(image, 12, 12), kWhite);
}

TEST(Render, DrawsHeatMapsOfOnePixel) {
  DisplayList list = make_page(8, 8);
  list.items = {make_checkerboard({3, 4, 1, 1}, 1), make_checkerboard({6, 1, 1, 3}, 1),
                make_checkerboard({1, 1, 0.2, 1}, 1)};
  const Image image = render_image(list, 1);
  const Colour zero = colour_map("viridis").at(0);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      const bool is_inside = (x == 3 && y == 4) || (x == 6 && y >= 1 && y < 4);
      EXPECT_EQ(testing::pixel(image, x, y), is_inside ? zero : kWhite) << x << ", " << y;
    }
  }
}

TEST(Render, AcceptsSizesUpToTheirLimits) {
  EXPECT_EQ(render_image(make_page(1, 16384), 1).height, 16384);
  EXPECT_EQ(render_image(make_page(8192, 0.5), 2).width, 16384);
  EXPECT_EQ(render_image(make_page(10.2, 3), 1).width, 11);  // rounded up
  for (const auto& [width, height] :
       {std::pair{16385.0, 1.0}, {1.0, 16385.0}, {0.99, 5.0}, {5.0, 0.99}, {-4.0, -4.0}}) {
    EXPECT_THROW(render_image(make_page(width, height), 1), InputError) << width << " x " << height;
  }
}

TEST(Render, PngsHave96UnitsPerInch) {
  testing::TemporaryFolder folder;
  write_picture(folder.path() / "a.png", make_list(), 2, {});
  EXPECT_NE(read_file(folder.path() / "a.png").find(std::string("pHYs\0\0\x1d\x87", 8)),
            std::string::npos);
}

// Decompressed streams of a PDF.
std::string decompressed_streams(const std::string& pdf) {
  std::string streams;
  for (std::size_t position = pdf.find("stream\n"); position != std::string::npos;
       position = pdf.find("stream\n", position + 1)) {
    if (position >= 3 && pdf.compare(position - 3, 3, "end") == 0) continue;
    std::string text(std::size_t{1} << 20, '\0');
    auto size = static_cast<uLongf>(text.size());
    const auto* compressed = reinterpret_cast<const Bytef*>(pdf.data() + position + 7);
    const int status = uncompress(reinterpret_cast<Bytef*>(text.data()), &size, compressed,
                                  static_cast<uLong>(pdf.size() - position - 7));
    if (status == Z_OK) streams += text.substr(0, size) + "\n";
  }
  return streams;
}

// PDF coordinates are in points, 0.75 per unit.
TEST(Render, PdfsPlaceShapes) {
  DisplayList list = make_page(200, 120);
  list.items = {FilledBox{{12, 20, 32, 40}, kRed}, Line{{{14, 18}, {22, 18}}, kBlack, 0.4},
                OutlinedBox{{62, 70, 10, 12}, kBlack, 0.8},
                make_checkerboard({110, 10, 80, 80}, 8)};
  const std::string pdf = encode_pdf(list, {});
  const std::string shapes = decompressed_streams(pdf);
  const auto contains = [&](const char* operators) {
    return shapes.find(operators) != std::string::npos;
  };
  EXPECT_TRUE(contains("9 15 24 30 re"));
  EXPECT_TRUE(contains("10.5 13.5 m"));
  EXPECT_TRUE(contains("16.5 13.5 l"));
  EXPECT_TRUE(contains("0.3 w"));
  EXPECT_TRUE(contains("46.5 52.5 7.5 9 re"));
  EXPECT_TRUE(contains("0.6 w"));
  EXPECT_NE(pdf.find("/Width 320"), std::string::npos);  // four pixels per unit
  EXPECT_NE(pdf.find("/MediaBox [ 0 0 150 90 ]"), std::string::npos);
}

// Widths are cached. They do not depend on the order or repetition of calls.
TEST(Render, MeasuresTextWidths) {
  const TextMeasure& measure = file_text_measure();
  const double wide_width = measure.width("WWWW", 13), narrow_width = measure.width("iiii", 13);
  EXPECT_GT(wide_width, 2 * narrow_width);
  EXPECT_GT(measure.width("WWWW", 13, true), wide_width);
  EXPECT_EQ(measure.width("iiii", 13), narrow_width);
  EXPECT_EQ(measure.width("WWWW", 13), wide_width);
  EXPECT_NEAR(measure.width("WWWW", 26), 2 * wide_width, 0.1);
  const std::string long_text(300, 'W');
  EXPECT_NEAR(measure.width(long_text, 13), 75 * wide_width, 1);
}

// The rounded box is a circle that is large enough to check every quarter.
TEST(Render, RoundsLargeCorners) {
  DisplayList list = make_page(1010, 1010);
  list.items = {FilledBox{{5, 5, 1000, 1000}, kRed, 500}};
  const Image image = render_image(list, 1);
  int wrong = 0;
  for (int y = 0; y < 1010; ++y) {
    for (int x = 0; x < 1010; ++x) {
      const double distance = std::hypot(x + 0.5 - 505, y + 0.5 - 505) - 500;
      if (std::abs(distance) < 0.75) continue;
      wrong += testing::pixel(image, x, y) == (distance < 0 ? kRed : kWhite) ? 0 : 1;
    }
  }
  EXPECT_EQ(wrong, 0);
}

// Oblique lines are not snapped to pixels and have round ends. An intermediate point changes
// nothing.
TEST(Render, SnapsOnlyStraightSegments) {
  const auto render_line = [](std::vector<Point> points) {
    DisplayList list = make_page(24, 24);
    list.items = {Line{std::move(points), kBlack, 3}};
    return render_image(list, 1);
  };
  const auto expect_similar = [](const Image& a, const Image& b) {
    ASSERT_EQ(a.rgba.size(), b.rgba.size());
    int largest_difference = 0;
    for (std::size_t n = 0; n < a.rgba.size(); ++n) {
      largest_difference = std::max(largest_difference, std::abs(int{a.rgba[n]} - int{b.rgba[n]}));
    }
    EXPECT_LE(largest_difference, 24);
  };
  expect_similar(render_line({{3.3, 4.2}, {15.5, 12.4}}),
                 render_line({{3.3, 4.2}, {9.4, 8.3}, {15.5, 12.4}}));
  expect_similar(render_line({{5.3, 4.2}, {5.3, 14.4}, {17.2, 9.3}}),
                 render_line({{5.3, 4.2}, {5.3, 9.3}, {5.3, 14.4}, {17.2, 9.3}}));
  expect_similar(render_line({{4.2, 5.3}, {14.4, 5.3}, {9.3, 17.2}}),
                 render_line({{9.3, 17.2}, {14.4, 5.3}, {4.2, 5.3}}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
