// Board of switches that enable or disable layers and heads.
#pragma once

#include "core/view/parts/page.h"

namespace attnscope {

// Size and layout of the board. Lengths are in pixels, and zero if the board does not fit.
struct BoardSize {
  double width = 0, height = 0, cell = 0;  // cell: distance of neighbouring switches
  bool has_layers_across = false;          // layers are columns; false: rows
  Index first_layer = 0, layers = 0;       // shown layers: [first_layer, first_layer + layers)
  bool is_partial = false;                 // some layers are not shown
};
// Shows all layers, as rows or as columns, whichever gives larger switches. If neither fits, shows
// as many rows as fit, around the selected layer.
BoardSize switch_board_size(const Page& page, const Trace& trace, double max_width,
                            double max_height);

// Draws the board below `corner` (top left): enabled heads are filled, disabled heads are crossed,
// and the selected head is outlined. Returns a handle for each shown head and layer that toggles
// it.
std::vector<Handle> draw_switch_board(Page& page, Point corner, const BoardSize& size,
                                      const Trace& trace);

}  // namespace attnscope
