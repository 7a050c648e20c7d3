// Display lists: figures as lists of drawing primitives. A view is laid out once into a
// DisplayList; ImGui draws it on screen (app), Cairo and Pango into PNG, SVG and PDF files
// (render.h).
//
// Units are pixels at scale 1 (1/96 inch); x to the right, y down, origin at the top left. Items
// are drawn in order, later ones over earlier ones, all within the list's width and height.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/tensor/device_tensor.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct Point {
  double x = 0, y = 0;
};
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool contains(Point p) const { return p.x >= x && p.x < right() && p.y >= y && p.y < bottom(); }
};
struct Colour {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  bool operator==(const Colour&) const = default;
};

enum class Align { Start, Middle, End };

struct FilledBox {
  Box box;
  Colour colour;
  double radius = 0;  // corner radius
};
struct OutlinedBox {  // the stroke is centred on the edges; painters snap it to whole pixels
  Box box;
  Colour colour;
  double thickness = 1;
};
struct Line {  // open; horizontal and vertical lines are snapped to whole pixels
  std::vector<Point> points;
  Colour colour;
  double thickness = 1;
};
// Offset of the baseline below a text's anchor, in font sizes; centres capitals on the anchor.
inline constexpr double kBaselineShift = 0.36;
// Distance between baselines, in font sizes.
inline constexpr double kLineHeight = 1.35;

struct Text {        // one line
  Point at;          // anchor; vertical: the middle of the capitals, see kBaselineShift
  std::string text;  // UTF-8
  Colour colour;
  double size = 13;  // font size in pixels
  Align align = Align::Start;
  double angle = 0;  // degrees, counter-clockwise about the anchor
  bool bold = false;
};
// A matrix as coloured cells, drawn by a colour-map shader on screen and by heat_map.h in files. A
// pixel shows the cell under its centre. If `max_pooled` is set and an axis has more visible cells
// than pixels, a pixel shows the largest cell that it overlaps, so that thin diagonals survive.
// Diverging colour maps compare magnitudes.
struct HeatMap {
  Box box;        // area of the visible cells
  Tensor values;  // [rows, columns]
  // If not null, plane `plane` of this tensor replaces `values`.
  std::shared_ptr<const DeviceTensor> device;
  Index plane = 0;
  // Visible range in cells; may begin and end within a cell, and exceed the matrix.
  double row = 0, column = 0, height = 0, width = 0;
  double least = 0, most = 1;          // colour range; values outside are clamped
  std::string colour_map = "viridis";  // see colour_map.h
  Colour missing{0, 0, 0, 0};          // colour of NaN cells and of the area outside the matrix
  bool max_pooled = true;              // pools cells smaller than a pixel
  bool hollow = false;                 // draws the missing cells only
};
// An image, stretched over the box. When enlarged, a pixel shows the image pixel under its centre;
// when reduced, approximately the mean of the image pixels that it covers.
struct ColourImage {
  Box box;
  Tensor colours;  // [rows, columns, 3 or 4] from 0 to 1; the fourth channel is opacity
};
// Pushes a clipping rectangle for the following items; without a box, pops the last rectangle.
struct Clip {
  std::optional<Box> box;
};

using Item = std::variant<FilledBox, OutlinedBox, Line, Text, HeatMap, ColourImage, Clip>;

struct DisplayList {
  double width = 0, height = 0;
  Colour background{255, 255, 255, 255};
  std::vector<Item> items;
};

// Width of text in pixels; the screen and files have separate implementations.
class TextMeasure {
 public:
  virtual ~TextMeasure() = default;
  virtual double width(const std::string& text, double size, bool bold = false) const = 0;
};

struct Theme {
  Colour background, text, faint_text, line, accent;
  bool is_dark() const { return background.r < 128; }  // backgrounds are nearly grey
  static const Theme& light();
  static const Theme& dark();
};

}  // namespace attnscope
