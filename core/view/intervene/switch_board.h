// All layers and heads as switches.
#pragma once

#include "core/view/parts/page.h"

namespace attnscope {

// The size that the board of this run takes, at most this large.
struct BoardSize {
  double width = 0, height = 0, cell = 0;
};
BoardSize switch_board_size(const Page& page, const Trace& trace, double most_width,
                            double most_height);

// Draws the heads that interventions leave on as filled cells, those that are off as crossed ones,
// the shown one outlined. Returns a handle for each head and layer, which switches it.
std::vector<Handle> draw_switch_board(Page& page, Point at, const BoardSize& size,
                                      const Trace& trace);

}  // namespace attnscope
