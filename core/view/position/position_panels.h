// What an encoding does, in numbers: matrices and curves by position or offset.
#pragma once

#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

// Either a matrix or curves. Across run positions or offsets, from `first` on.
struct PositionPanel {
  std::string title;
  std::string across;  // "position", "offset: query − key"
  double first = 0, last = 0;

  Tensor cells;  // [n, positions or offsets]; undefined: curves; NaN: a pair that is not there
  bool square = false;  // the cells are pairs of positions
  bool causal = false;  // offsets below 0 do not occur
  std::string down;     // what the matrix's rows are: "component"
  std::string colour;   // what its colours are: "value"

  struct Curve {
    std::vector<Point> points;
    Index head = -1;  // whose; -1: of all
    std::string name{};
  };
  std::vector<Curve> curves;
  std::string up;     // what the curves' heights are: "added to the score"
  Index marked = -1;  // the head that is looked at
};

struct PositionPanels {
  std::vector<PositionPanel> panels;
  std::string headline, advice;  // where there are none
  Index reach = 0;               // positions 0 .. reach, offsets -reach .. reach
};

// For the shown layer and head. `reach`: as far as the weights of the encoding go.
PositionPanels position_panels(const ViewInput& input, const AttentionTap& tap, Index head,
                               Index reach);

}  // namespace attnscope
