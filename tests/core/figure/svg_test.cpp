#include "core/figure/svg.h"

#include <gtest/gtest.h>

#include "core/base/base64.h"
#include "core/base/base64.h"
#include "core/figure/heat_map.h"
#include "tests/support/golden.h"
#include "tests/support/picture.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Svg, IsWellFormedAndContainsRealText) {
  DisplayList list;
  list.width = 200;
  list.height = 100;
  HeatMap map;
  map.box = {10, 10, 50, 50};
  map.values = Tensor::full({2, 2}, 0.5f);
  map.width = map.height = 2;
  list.items = {FilledBox{{0, 0, 10, 10}, {255, 0, 0, 128}, 2},
                OutlinedBox{{0, 0, 10, 10}, {}, 1},
                Line{{{1, 2}, {3, 4}}, {}, 1},
                Clip{Box{0, 0, 100, 100}},
                map,
                Clip{},
                Clip{},  // unbalanced pop
                Clip{Box{0, 0, 50, 50}},
                Text{{5, 5}, "tokens <s> & \"q\" \xE4 \xC3\xA4", {}, 13, Align::End, 90, true}};
  const std::string svg = encode_svg(list, {{"Title", "a < b"}, {"Experiment", "{\"a\": 1}"}});
  EXPECT_EQ(testing::xml_error(svg), "");
  EXPECT_NE(svg.find(">tokens &lt;s&gt; &amp; &quot;q&quot; \xEF\xBF\xBD \xC3\xA4</text>"),
            std::string::npos);
  EXPECT_NE(svg.find("<title>a &lt; b</title>"), std::string::npos);
  EXPECT_NE(svg.find("data:image/png;base64,"), std::string::npos);
  EXPECT_NE(svg.find("rotate(-90"), std::string::npos);
  EXPECT_NE(svg.find("viewBox=\"0 0 200.00 100.00\""), std::string::npos);
}

TEST(Svg, XmlCheckFindsFaults) {
  const std::string head = "<?xml version=\"1.0\"?>";
  EXPECT_EQ(testing::xml_error(head + "<a><b c=\"1\"/>x &amp; y</a>"), "");
  EXPECT_NE(testing::xml_error(head + "<a><b></a>"), "");
  EXPECT_NE(testing::xml_error(head + "<a>"), "");
  EXPECT_NE(testing::xml_error(head + "<a>&</a>"), "");
  EXPECT_NE(testing::xml_error(head + "<a b=c/>"), "");
}

// Returns the image in the SVG of a single item, or an empty image if there is none.
Image decode_embedded_image(const Item& item) {
  DisplayList list;
  list.width = list.height = 100;
  list.items = {item};
  const std::string svg = encode_svg(list, {});
  EXPECT_EQ(testing::xml_error(svg), "");
  const std::string begin = "base64,";
  const std::size_t position = svg.find(begin);
  if (position == std::string::npos) return {};
  const std::size_t end = svg.find('"', position);
  const std::size_t start = position + begin.size();
  return testing::decode_png(from_base64(svg.substr(start, end - start)).value());
}

// Checks the sizes of embedded PNG images in pixels. The lengths of the files have all remainders
// modulo 3, for base64 padding.
TEST(Svg, EmbedsImagesOfFourPixelsPerUnit) {
  for (const int columns : {1, 2, 3, 5, 8}) {
    HeatMap map;
    map.box = {10, 10, columns + 0.25, 2.1};
    map.values = Tensor::full({1, columns}, 0.5f);
    for (Index c = 0; c < columns; ++c) map.values(0, c) = static_cast<float>(c) / 8;
    map.width = columns;
    map.height = 1;
    const Image image = decode_embedded_image(map);
    ASSERT_EQ(image.width, 4 * columns + 1);
    ASSERT_EQ(image.height, 9);
    EXPECT_EQ(image.rgba, rasterise(map, image.width, image.height).rgba);
  }
  HeatMap small_map;
  small_map.values = Tensor::full({1, 1}, 0.5f);
  small_map.width = small_map.height = 1;
  small_map.box = {1, 1, 0.25, 0.25};
  EXPECT_EQ(decode_embedded_image(small_map).width, 1);
  small_map.box = {1, 1, 0.25, 0};
  EXPECT_EQ(decode_embedded_image(small_map).width, 0);
  small_map.box = {1, 1, 0, 0.25};
  EXPECT_EQ(decode_embedded_image(small_map).width, 0);
}

// An image is embedded unchanged if its box has fewer pixels in either direction.
TEST(Svg, EnlargesImagesSmallerThanTheirBoxes) {
  const Tensor colours = Tensor::full({6, 20, 3}, 0.25f);
  EXPECT_EQ(decode_embedded_image(ColourImage{{0, 0, 10, 10}, colours}).width, 40);
  EXPECT_EQ(decode_embedded_image(ColourImage{{0, 0, 10, 10}, colours}).height, 40);
  EXPECT_EQ(decode_embedded_image(ColourImage{{0, 0, 4, 10}, colours}).height, 6);
  EXPECT_EQ(decode_embedded_image(ColourImage{{0, 0, 10, 1}, colours}).width, 20);
}

TEST(Svg, MatchesGolden) {
  DisplayList list;
  list.width = 120.5;
  list.height = 80;
  list.background = {250, 251, 252, 255};
  list.items = {FilledBox{{0, 0.125, 10.5, 100}, {255, 16, 9, 128}, 2.5},
                FilledBox{{0, 0, 1, 1}, {}, 0},
                OutlinedBox{{-3, 4, 5, 6}, {1, 2, 3, 255}, 1.5},
                Line{{}, {}, 1},
                Line{{{1, 2}, {3.456, 4}, {5, 6}}, {9, 9, 9, 0}, 0.75},
                Clip{},
                Clip{Box{0, 0, 100, 100}},
                Clip{Box{1, 1, 10, 10}},
                Text{{5, 6}, "start", {7, 8, 9, 255}, 10},
                Clip{},
                Text{{5.5, 6}, "middle", {}, 20, Align::Middle, 0, true},
                Clip{Box{2, 2, 3, 3}},
                Text{{5, 6.25}, "end", {}, 12.5, Align::End, 45}};
  const std::string svg = encode_svg(list, {{"Title", "A title"}, {"Experiment", "{}"}});
  EXPECT_EQ(testing::xml_error(svg), "");
  EXPECT_TRUE(testing::matches_golden(svg, "core/figure/written_svg.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
