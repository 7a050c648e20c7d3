// Numbers behind the Position view: matrices and curves by position or offset.
#pragma once

#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

// A matrix, or curves if `cells` is undefined, over the positions or offsets `first` to `last`.
struct PositionPanel {
  std::string title;
  std::string x_label;  // "position", "offset: query − key"
  double first = 0, last = 0;

  Tensor cells;              // [rows, positions or offsets]; NaN: the pair does not occur
  double first_row = 0;      // position or offset of the first row
  bool is_square = false;    // rows are positions or offsets, too
  bool is_causal = false;    // negative offsets do not occur
  std::string row_label;     // "component"
  std::string colour_label;  // "value"

  struct Curve {
    std::vector<Point> points;
    Index head = -1;  // -1: all heads
  };
  std::vector<Curve> curves;
  std::string y_label;       // y axis of curves: "added to the score"
  Index selected_head = -1;  // head whose curve is emphasised; -1: none
};

struct PositionPanels {
  std::vector<PositionPanel> panels;
  std::string headline, advice;  // message if there are no panels
  Index reach = 0;               // range: positions 0 to reach, offsets -reach to reach
};

// Panels of the selected head. Trained vectors limit the requested `reach`.
PositionPanels position_panels(const ViewInput& input, const AttentionTap& tap, Index head,
                               Index reach);

}  // namespace attnscope
