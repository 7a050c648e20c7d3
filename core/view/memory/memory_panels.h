// Panels of the Memory view.
#pragma once

#include "core/view/memory/shown_memory.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/token_flow.h"

namespace attnscope {

// Height of a panel's bold title.
double panel_title_height(const Page& page);
void draw_panel_title(Page& page, const Box& box, const std::vector<std::string>& candidates);

// Words in text order, merged by slot: forgotten (or never stored), compressed, memory, segment.
struct SlotWords {
  std::vector<FlowToken> items;
  std::vector<Index> columns;  // by item; -1: forgotten
};
SlotWords slot_words(const ShownMemory& shown, const Theme& theme, Index marked);

// Segments of the text, memory of the selected segment, and receptive field of each layer.
struct RangePanel {
  Box strip;  // of the clickable segments
  std::vector<Box> segments;
};
double range_height(const Page& page, const ShownMemory& shown);  // preferred height
RangePanel draw_range(Page& page, const Box& box, const ShownMemory& shown,
                      const std::vector<Index>& oldest);

// Draws the number of query-key products by text length.
void draw_cost(Page& page, const Box& box, const ShownMemory& shown);

// The head's weights, and below them the mean by slot in aligned columns. Zero width: no space.
struct WeightPanels {
  MatrixPlot map;
  Chart chart;
  double bottom = 0;
  Index column_at(Point p) const;  // column of the chart; -1: none
};
WeightPanels draw_weights(Page& page, const Box& box, const ShownMemory& shown);

}  // namespace attnscope
