// Panels of the gates view: a map per gate set (GateSet: the gates of one kind), and a chart of the
// selected rows.
#pragma once

#include "core/view/gates/gate_layout.h"
#include "core/view/parts/legend.h"

namespace attnscope {

// `token`: the hovered token; -1 if none.
void draw_gate_maps(Page& page, const GatePlaces& places, Index token);

// Chart of the selected row of each gate set: mean ± one deviation over components.
struct GateChart {
  Chart chart;
  std::vector<LegendEntry> entries;  // one per set
  double legend = 0;                 // height of the legend
};
GateChart place_gate_chart(const Page& page, const GatePlaces& places);
void draw_gate_chart(Page& page, const GatePlaces& places, const GateChart& placed);

}  // namespace attnscope
