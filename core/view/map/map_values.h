// The matrix of the map view: attention of one head, or aggregated over several.
#pragma once

#include <string>
#include <vector>

#include "core/view/map/row_scale.h"
#include "core/view/parts/range.h"

namespace attnscope {

// Parameters of the map view.
std::vector<Parameter> map_parameters();

// Parameters that map-like views share.
Parameter scale_parameter();
Parameter hide_first_parameter();
ColourRange::Scale scale_of(const Values& options);
inline constexpr double kLogSpan = 1e-4;  // default ratio of the ends of a log scale

// Hides one key column in a copy of the cells, if it is visible.
void hide_column(Tensor& cells, Index column, const ShownCells& seen);

// True if the whole map is stored or cheap to derive.
bool is_whole(const AttentionTap& tap);

struct MapMatrix {
  // [L_q, L_k]; undefined if a single head resides in plane `plane` of `device`. Hidden values (the
  // first token) are NaN.
  Tensor values;
  std::shared_ptr<const DeviceTensor> device;
  Index plane = 0;
  bool whole = true;        // false: not stored; set_cells() provides the visible region
  CacheKey key{"map"};      // unique within the trace
  bool with_signs = false;  // values can be negative
  bool one_head = true;     // attention of the selected head, not of several
  std::string unit = "attention weight";
  RowScale row_scale = RowScale::None;  // applied to `values`; if not `whole`, yet to be applied
  std::string caption;                  // "Attention of layer 1, head 2"
  std::string headline, advice;         // reason why there is no matrix; else empty

  Tensor host() const;  // downloads if necessary
};
// `tap`, `head`: the selected tap, and the selected head within the tap's group.
MapMatrix map_matrix(const ViewInput& input, const AttentionTap& tap, Index head);

}  // namespace attnscope
