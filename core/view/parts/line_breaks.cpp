#include "core/view/parts/line_breaks.h"

#include <algorithm>

namespace attnscope {

std::vector<Box> wrap_boxes(const std::vector<double>& widths, const LineBreaks& breaks) {
  std::vector<Box> boxes;
  double x = 0, y = 0;
  for (const double wanted : widths) {
    const double own = std::min(breaks.width, wanted);
    if (x > 0 && x + own > breaks.width) {
      x = 0;
      y += breaks.line;
    }
    boxes.push_back({x, y, own, breaks.height});
    x += own + breaks.gap;
  }
  return boxes;
}

}  // namespace attnscope
