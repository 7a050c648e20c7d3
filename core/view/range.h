// Which numbers the colours of attention maps stand for.
#pragma once

#include "core/view/colour_bar.h"

namespace attnscope {

// Lets a heat map show this head: where the numbers lie on a device, from there.
void set_cells(HeatMap& cells, const AttentionTap& tap, Index head);

// Whether weights can be negative (a signed matrix in place of a softmax).
bool is_signed(const AttentionTap& tap, Index head);

// 0..1, or with `normalise` 0 to the largest of the cells in sight; for signed weights the same to
// both sides of zero, in a diverging colour map.
ColourRange colour_range(const ViewInput& input, const HeatMap& cells, bool with_signs);

// The largest magnitude among the visible cells; 0 when there are none.
double largest_visible(const HeatMap& cells);

}  // namespace attnscope
