// The matrix of the map view: attention of one head, or aggregated over several.
#pragma once

#include <string>
#include <vector>

#include "core/view/map/row_scale.h"
#include "core/view/parts/range.h"

namespace attnscope {

// Parameters of the map view.
std::vector<Parameter> map_parameters();

// Parameters shared by views of maps.
Parameter scale_parameter();
Parameter hide_first_parameter();
ColourRange::Scale scale_of(const Values& options);
inline constexpr double kLogSpan = 1e-4;  // lower end of a log scale, relative to the upper end

// If the key column `column` is visible, replaces `cells` by a copy with NaN in that column.
// `region`: the region that `cells` covers.
void hide_column(Tensor& cells, Index column, const ShownCells& region);

// True if the whole map is stored or cheap to derive.
bool is_whole(const AttentionTap& tap);

struct MapMatrix {
  // [L_q, L_k]; undefined if the values reside in plane `plane` of `device`. NaN: hidden column.
  Tensor values;
  std::shared_ptr<const DeviceTensor> device;
  Index plane = 0;
  bool is_complete = true;  // false: not stored; set_cells() provides the visible region
  CacheKey key{"map"};      // identifies the values within the trace
  bool is_signed = false;   // values can be negative
  bool is_one_head = true;  // attention of the selected head, not of several
  std::string unit = "attention weight";
  RowScale row_scale = RowScale::None;  // if not `is_complete`: still to be applied
  std::string caption;                  // "Attention of layer 1, head 2"
  std::string headline, advice;         // reason why there is no matrix; else empty

  Tensor on_host() const;  // `values`, downloaded if necessary
};
// `tap`, `head`: the selected tap, and the selected head within the tap's group.
MapMatrix map_matrix(const ViewInput& input, const AttentionTap& tap, Index head);

}  // namespace attnscope
