// The matrix that the map shows: the attention of one head, or what several heads give together.
#pragma once

#include <string>
#include <vector>

#include "core/view/map/row_scale.h"
#include "core/view/parts/range.h"

namespace attnscope {

// What the map lets a person choose.
std::vector<Parameter> map_parameters();

// Of these, what maps beside each other have as well; how far a logarithmic scale reaches down from
// the largest number where nothing else is said.
Parameter scale_parameter();
Parameter hide_first_parameter();
ColourRange::Scale scale_of(const Values& options);
inline constexpr double kLogSpan = 1e-4;

// Leaves one key out of shown cells, which are copied; none where it is not in sight.
void hide_column(Tensor& cells, Index column, const ShownCells& seen);

// Whether all of a head's map is there, or cheap to have.
bool is_whole(const AttentionTap& tap);

struct MapMatrix {
  // [L_q, L_k]; in place of them plane `plane` of `device`, where a single head lies there. What is
  // not to be seen (a hidden first token) is NaN.
  Tensor values;
  std::shared_ptr<const DeviceTensor> device;
  Index plane = 0;
  bool whole = true;        // false: of a map that was not kept, set_cells() has what is in sight
  std::string name;         // of these numbers, unlike that of any others of the same trace
  bool with_signs = false;  // whether numbers can be negative
  bool one_head = true;     // the attention of the view's head as it is
  std::string unit = "attention weight";
  RowScale row_scale = RowScale::None;  // of `values`, or to be of what is in sight
  std::string caption;                  // "Attention of layer 1, head 2"
  std::string headline, advice;         // why there is none; empty: there is

  Tensor host() const;  // downloaded where necessary
};
// `tap` and `head` (within the group) are the settings' layer and head.
MapMatrix map_matrix(const ViewInput& input, const AttentionTap& tap, Index head);

}  // namespace attnscope
