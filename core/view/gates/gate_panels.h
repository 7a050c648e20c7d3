// What the view of gates draws: a map of each set, and the shown rows token by token.
#pragma once

#include "core/view/gates/gate_places.h"
#include "core/view/parts/legend.h"

namespace attnscope {

// `token`: the one that is pointed at; -1: none.
void draw_gate_maps(Page& page, const GatePlaces& places, Index token);

// Of each set the shown row, token by token, with its spread over components.
struct GateChart {
  Chart chart;
  std::vector<LegendEntry> entries;  // of each set
  double legend = 0;                 // height
};
GateChart place_gate_chart(const Page& page, const GatePlaces& places);
void draw_gate_chart(Page& page, const GatePlaces& places, const GateChart& placed);

}  // namespace attnscope
