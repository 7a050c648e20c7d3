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

// Places `count` panels in the number of lines that maximises the size of a pixel, with `foot`
// units of free space below each panel. Of three panels, the others are stacked next to the second
// if that enlarges the second considerably. Returns no panels if there is no space.
std::vector<PixelPanel> place_panels(const Page& page, const Box& inside, const PixelGrid& grid,
                                     std::size_t count, double foot);

// Three panels, and the box of a chart. The box is at least as high as the smallest panel.
struct PanelsAndChart {
  std::vector<PixelPanel> panels;
  Box chart;
};
PanelsAndChart place_with_chart(const Page& page, const Box& inside, const PixelGrid& grid,
                                double foot);

// Draws the first title that fits, and each pixel in the colour that `colour` returns. `picture`
// [rows, columns, 3], if defined, is stretched over the panel behind translucent colours.
void draw_panel(Page& page, const PixelPanel& panel, const std::vector<std::string>& titles,
                const std::function<Colour(Index pixel)>& colour, const Tensor& picture = {});
// Outlines one pixel.
void draw_mark(Page& page, const PixelPanel& panel, Index pixel, Colour colour);

Colour pixel_colour(const Tensor& colours, Index pixel);  // colours: [.., 3], in [0, 1]

}  // namespace attnscope
