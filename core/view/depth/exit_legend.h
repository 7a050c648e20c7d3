// Legend of exit layers.
#pragma once

#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

// Draws a one-line legend of all exit layers with their numbers of tokens: each layer if there is
// space, else the layers with tokens, else ranges of layers. exits: [L], layers from 0.
void draw_exit_legend(Page& page, Point at, double width, const std::vector<Index>& exits,
                      Index layers);

}  // namespace attnscope
