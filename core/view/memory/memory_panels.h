// The panels of the Memory view.
#pragma once

#include "core/view/memory/shown_memory.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/token_flow.h"

namespace attnscope {

// A line in bold that says what a panel is; its height.
double panel_title_height(const Page& page);
void draw_panel_title(Page& page, const Box& box, const std::vector<std::string>& candidates);

// The words that slots hold, in the order of the text: what was forgotten (or never kept), windows
// that became one slot, memory, segment.
struct SlotWords {
  std::vector<FlowToken> items;
  std::vector<Index> columns;  // of each item; -1: forgotten
};
SlotWords slot_words(const ShownMemory& shown, const Theme& theme, Index marked);

// Segments of the text, what the shown one holds, and how far back each layer hears.
struct RangePanel {
  Box strip;  // of the segments, which can be clicked
  std::vector<Box> segments;
};
double range_height(const Page& page, const ShownMemory& shown);  // what it would like
RangePanel draw_range(Page& page, const Box& box, const ShownMemory& shown,
                      const std::vector<Index>& oldest);

// Products of queries and keys against the length of the text.
void draw_cost(Page& page, const Box& box, const ShownMemory& shown);

// The head's weights, and below them the mean by slot between the same edges. No width: no space.
struct WeightPanels {
  MatrixPlot map;
  Chart chart;
  double bottom = 0;
  Index column_at(Point p) const;  // of the chart; -1: none
};
WeightPanels draw_weights(Page& page, const Box& box, const ShownMemory& shown);

}  // namespace attnscope
