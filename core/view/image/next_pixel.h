// Probabilities of the next pixel in a generative image model.
#pragma once

#include <vector>

#include "core/view/image/pixel_panel.h"

namespace attnscope {

struct NextPixel {
  Index pixel = 0;
  std::vector<double> probabilities;  // [levels] by brightness level, sum 1
  double expected = 0;                // mean level
  Index likeliest = 0;
  Index true_level = -1;  // level in the image; -1: unknown
};
// Prediction of `pixel` by row `pixel` of the logits.
NextPixel next_pixel(const ViewInput& input, Index pixel);

// Draws bars by level, dark to bright, in `box`. The title is above `box`, axis and text are below.
void draw_next_pixel(Page& page, const Box& box, const PixelGrid& grid, const NextPixel& next);

}  // namespace attnscope
