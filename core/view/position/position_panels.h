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
  bool is_sparse = false;    // most entries are 0: colours cover the largest one
  bool is_causal = false;    // negative offsets do not occur
  std::string row_label;     // "component"
  std::string colour_label;  // "value"

  struct Curve {
    std::vector<Point> points;
    Index head = -1;     // -1: all heads
    std::string name{};  // "shuffled": in the legend, in place of a head
  };
  std::vector<Curve> curves;
  std::string y_label;       // y axis of curves: "added to the score"
  Index selected_head = -1;  // head whose curve is emphasised; -1: none
};

struct PositionPanels {
  std::vector<PositionPanel> panels;
  std::string headline, advice;  // message if there are no panels
  Index reach = 0;               // range: positions 0 to reach, offsets -reach to reach
  std::string subject{};         // caption; empty: the encoding's equation
};

PositionPanel matrix_panel(std::string title, const std::string& x_label, double first,
                           Tensor cells, std::string row_label, std::string colour_label);
PositionPanel curve_panel(std::string title, const std::string& x_label, double first, double last,
                          std::string y_label);
Tensor transposed(const Tensor& m);

// Panels of the selected head. Trained vectors limit the requested `reach`.
PositionPanels position_panels(const ViewInput& input, const AttentionTap& tap, Index head,
                               Index reach);

// Largest position with a vector: `reach`, or the model's last position if vectors are trained.
Index position_limit(const ViewInput& input, const AttentionTap& tap, Index reach);

// Contents of the view: the view's parameter "show".
inline constexpr const char* kShowEncoding = "encoding";
inline constexpr const char* kShowShift = "shift";
inline constexpr const char* kShowRegression = "regression";
inline constexpr const char* kShowSubspaces = "subspaces";

// Panels of the other contents: the linear map of a shift by `shift` positions, the regression of
// positions from vectors and states, or the subspaces of words and positions.
PositionPanels position_study_panels(const ViewInput& input, const AttentionTap& tap,
                                     const std::string& show, Index reach, Index shift);

}  // namespace attnscope
