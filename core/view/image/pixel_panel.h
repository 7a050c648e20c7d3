// Panels that draw an image as squares.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

// Position of an image on the page.
struct PixelPanel {
  Box box;  // area of all pixels
  Index width = 0, height = 0;
  double cell() const { return box.width / static_cast<double>(width); }
  Box pixel(Index index) const;
  Index at(Point p) const;  // index of the pixel at a point; -1: none
};

// Places panels in the number of lines that maximises their pixels, with `foot` units of free space
// below each. Of three panels, the second is large and the others are next to it, if that enlarges
// it considerably. Empty if there is no space.
std::vector<PixelPanel> place_panels(const Page& page, const Box& inside, const PixelGrid& grid,
                                     std::size_t count, double foot);

// Three panels, and a box for a chart that is at least as high as the smallest panel.
struct PanelsAndChart {
  std::vector<PixelPanel> panels;
  Box chart;
};
PanelsAndChart place_with_chart(const Page& page, const Box& inside, const PixelGrid& grid,
                                double foot);

// Draws a title and each pixel in the colour that `colour` returns. `picture`, if defined, is
// behind transparent colours: [rows, columns, 3], stretched over the panel.
void draw_panel(Page& page, const PixelPanel& panel, const std::vector<std::string>& titles,
                const std::function<Colour(Index pixel)>& colour, const Tensor& picture = {});
// Outlines one pixel.
void draw_mark(Page& page, const PixelPanel& panel, Index pixel, Colour colour);

Colour pixel_colour(const Tensor& colours, Index pixel);  // colours: [.., 3], in [0, 1]

}  // namespace attnscope
