// Shaping of lines for painters that draw glyph by glyph: letters that join or run from right to
// left, combining marks, emoji.
#pragma once

#include <string_view>
#include <vector>

#include "core/figure/image.h"

namespace attnscope {

// Characters that are drawn together, such as a letter with its accents.
struct ShapedCluster {
  std::size_t begin = 0, end = 0;  // bytes of the line
  double advance = 0;              // width in font sizes
  bool is_rtl = false;
  bool has_glyphs = true;  // false if no installed font has the characters
};

// True if a label's base direction is right to left: if it has letters, all of them from scripts
// with that direction, and does not begin with a digit.
bool is_rtl_label(std::string_view text);
// True if a paragraph's base direction is right to left: if its first letter has that direction.
bool is_rtl_paragraph(std::string_view text);

// Font size in pixels at which lines are measured; widths are proportional to the font size.
inline constexpr double kMeasuredSize = 64;

// Clusters in visual order, from left to right. `line`: valid UTF-8 without control characters.
// `is_rtl`: base direction.
std::vector<ShapedCluster> shape_line(std::string_view line, bool is_rtl);

// Picture of a line: white on transparent, except for coloured glyphs.
struct TextRaster {
  Image image;
  int left = 0, top = 0;  // corner of the image relative to the pen on the baseline, y down, pixels
  bool is_coloured = false;
};
// `line` as for shape_line(); `size` in pixels.
TextRaster rasterise_line(std::string_view line, bool is_rtl, double size, bool bold);

}  // namespace attnscope
