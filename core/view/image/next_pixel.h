// The chances of the pixel that comes next, of a model that makes images.
#pragma once

#include <vector>

#include "core/view/image/pixel_panel.h"

namespace attnscope {

struct NextPixel {
  Index pixel = 0;
  std::vector<double> chances;  // of each level, their sum 1
  double expected = 0;          // the mean level
  Index likeliest = 0;
  Index own = -1;  // the image's; -1: not known
};
// Of the pixel that this row of the logits foretells.
NextPixel next_pixel(const ViewInput& input, Index pixel);

// As bars from dark to bright; title above the box, axis and words in the foot below it.
void draw_next_pixel(Page& page, const Box& box, const PixelGrid& grid, const NextPixel& next);

}  // namespace attnscope
