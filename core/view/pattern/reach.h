// Receptive field: layers until information of one token reaches another.
#pragma once

#include "core/view/parts/page.h"

namespace attnscope {

// Matrix [L, L]: number of layers after which query i first receives information of key j; 0 on the
// diagonal, NaN if never. Applies the part's layers of all steps in order, cyclically if `layers`
// exceeds their number. Throws InputError unless all layers have L queries and L keys, L <= 4,096.
Tensor reach_matrix(const Trace& trace, const TracePart& part, Index layers);
// Number of layers that the settings select for the receptive field.
Index reach_layers(const ViewInput& input);

// Second mode of the Pattern view: reach_matrix(), and the fraction of reached pairs by layer.
ViewLayout lay_out_reach(Page& page, const AttentionTap& tap);

}  // namespace attnscope
