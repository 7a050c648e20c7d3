// Through how many layers a token's information has to pass until another one hears of it.
#pragma once

#include "core/view/parts/page.h"

namespace attnscope {

// [L, L]: after how many layers query i first hears key j, 0 on the diagonal, NaN when never. The
// part's layers (of all steps) one after the other, from the first again where `layers` is more
// than there are. InputError where layers are not square and alike, or too long for it.
Tensor reach_matrix(const Trace& trace, const TracePart& part, Index layers);
// How many the settings ask for.
Index reach_layers(const ViewInput& input);

// The pattern view's second face: the matrix, and the share of pairs by layers as a curve.
ViewLayout lay_out_reach(Page& page, const AttentionTap& tap);

}  // namespace attnscope
