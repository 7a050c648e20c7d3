#include "core/view/parts/line_breaks.h"

#include <algorithm>

namespace attnscope {

std::vector<Box> wrap_boxes(const std::vector<double>& widths, const LineBreaks& breaks) {
  std::vector<Box> boxes;
  double x = 0, y = 0;
  for (const double requested_width : widths) {
    const double box_width = std::min(breaks.width, requested_width);
    if (x > 0 && x + box_width > breaks.width) {
      x = 0;
      y += breaks.line;
    }
    boxes.push_back({x, y, box_width, breaks.height});
    x += box_width + breaks.gap;
  }
  return boxes;
}

}  // namespace attnscope
