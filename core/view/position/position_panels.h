// Numbers behind the Position view: matrices and curves by position or offset.
#pragma once

#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

// A matrix or curves, over positions or offsets starting at `first`.
struct PositionPanel {
  std::string title;
  std::string across;  // "position", "offset: query − key"
  double first = 0, last = 0;

  Tensor cells;         // [n, positions or offsets]; undefined: curves; NaN: no such pair
  bool square = false;  // cells are pairs of positions
  bool causal = false;  // negative offsets do not occur
  std::string down;     // label of the rows: "component"
  std::string colour;   // label of the colours: "value"

  struct Curve {
    std::vector<Point> points;
    Index head = -1;  // -1: all heads
    std::string name{};
  };
  std::vector<Curve> curves;
  std::string up;     // label of the y axis: "added to the score"
  Index marked = -1;  // selected head
};

struct PositionPanels {
  std::vector<PositionPanel> panels;
  std::string headline, advice;  // the reason if there are no panels
  Index reach = 0;               // range: positions 0 .. reach, offsets -reach .. reach
};

// Panels of the selected head. `reach` is limited by the encoding's weights.
PositionPanels position_panels(const ViewInput& input, const AttentionTap& tap, Index head,
                               Index reach);

}  // namespace attnscope
