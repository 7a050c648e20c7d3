#include "core/figure/text_shaping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace attnscope {
namespace ATTNSCOPE_FILE {

// The line's characters from left to right.
std::string visual_order(const std::string& line, bool is_rtl) {
  std::string order;
  for (const ShapedCluster& c : shape_line(line, is_rtl)) {
    order += line.substr(c.begin, c.end - c.begin);
  }
  return order;
}

TEST(TextShaping, OrdersRightToLeftLetters) {
  EXPECT_EQ(visual_order("abc", false), "abc");
  EXPECT_EQ(visual_order("שלום", true), "םולש");
  EXPECT_EQ(visual_order("a שלום b", false), "a םולש b");
  EXPECT_EQ(visual_order("שלום 12!", true), "!12 םולש");
}

TEST(TextShaping, KeepsAccentsWithTheirLetter) {
  const std::vector<ShapedCluster> clusters = shape_line("e\u0301a", false);
  ASSERT_EQ(clusters.size(), 2);
  EXPECT_EQ(clusters[0].end, 3);
  EXPECT_GT(clusters[0].advance, 0.2);
  EXPECT_LT(clusters[0].advance, 1);
}

TEST(TextShaping, ReportsCharactersWithoutGlyph) {
  const std::vector<ShapedCluster> clusters = shape_line("a\u0378", false);  // not assigned
  ASSERT_EQ(clusters.size(), 2);
  EXPECT_TRUE(clusters[0].has_glyphs);
  EXPECT_FALSE(clusters[1].has_glyphs);
}

TEST(TextShaping, FindsDirections) {
  EXPECT_TRUE(is_rtl_label("שלום!"));
  EXPECT_FALSE(is_rtl_label("“שלום” attends to “עולם”"));
  EXPECT_FALSE(is_rtl_label("3 שלום"));
  EXPECT_FALSE(is_rtl_label("?"));
  EXPECT_TRUE(is_rtl_paragraph("“שלום” is Hebrew"));
  EXPECT_FALSE(is_rtl_paragraph("Hebrew: “שלום”"));
}

TEST(TextShaping, RasterisesWhiteGlyphsAroundTheBaseline) {
  const TextRaster small = rasterise_line("H", false, 20, false);
  const TextRaster large = rasterise_line("H", false, 40, false);
  EXPECT_FALSE(small.is_coloured);
  EXPECT_LT(small.top, 0);                                             // above the baseline
  EXPECT_NEAR(large.image.height - small.image.height, 0.73 * 20, 2);  // capitals
  int opaque = 0;
  const std::vector<std::uint8_t>& rgba = small.image.rgba;
  for (std::size_t i = 0; i < rgba.size(); i += 4) {
    if (rgba[i + 3] == 0) continue;
    EXPECT_TRUE(rgba[i] == 255 && rgba[i + 1] == 255 && rgba[i + 2] == 255);
    opaque += rgba[i + 3] > 200 ? 1 : 0;
  }
  EXPECT_GT(opaque, 20);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
