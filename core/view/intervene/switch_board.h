// Switches of all layers and heads.
#pragma once

#include "core/view/parts/page.h"

namespace attnscope {

// Size of the board for this run, within limits.
struct BoardSize {
  double width = 0, height = 0, cell = 0;
};
BoardSize switch_board_size(const Page& page, const Trace& trace, double most_width,
                            double most_height);

// Draws enabled heads as filled cells, disabled ones as crossed cells, the shown one outlined.
// Returns a handle for each head and layer that toggles it.
std::vector<Handle> draw_switch_board(Page& page, Point at, const BoardSize& size,
                                      const Trace& trace);

}  // namespace attnscope
