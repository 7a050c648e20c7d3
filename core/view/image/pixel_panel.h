// The pixels of an image as squares.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

// Where an image is drawn.
struct PixelPanel {
  Box box;  // of all pixels
  Index width = 0, height = 0;
  double cell() const { return box.width / static_cast<double>(width); }
  Box pixel(Index at) const;
  Index at(Point p) const;  // the pixel there, -1: none
};

// So many panels in as many lines as leave pixels largest, or, of three, the second large with the
// others beside it, where it gains much by that; below each `foot` pixels of the page are left.
// Empty: no space.
std::vector<PixelPanel> place_panels(const Page& page, const Box& inside, const PixelGrid& grid,
                                     std::size_t count, double foot);

// Three panels, and the place of a chart of the same height or more beside or below them.
struct PanelsAndChart {
  std::vector<PixelPanel> panels;
  Box chart;
};
PanelsAndChart place_with_chart(const Page& page, const Box& inside, const PixelGrid& grid,
                                double foot);

// Its title above it, and every pixel in the colour that `colour` gives: over `picture` where there
// is one, which those that are not opaque let through.
// picture: [rows, columns, 3], stretched over the panel
void draw_panel(Page& page, const PixelPanel& panel, const std::vector<std::string>& titles,
                const std::function<Colour(Index pixel)>& colour, const Tensor& picture = {});
// Around one pixel.
void draw_mark(Page& page, const PixelPanel& panel, Index pixel, Colour colour);

Colour pixel_colour(const Tensor& colours, Index pixel);  // colours: [.., 3], from 0 to 1

}  // namespace attnscope
