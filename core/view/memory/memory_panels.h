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

// Words of the text in order, coloured by state: forgotten (or not stored), compressed, in memory,
// or in the segment. Adjacent words in the same slot are merged.
struct SlotWords {
  std::vector<FlowToken> items;
  std::vector<Index> columns;  // key column of each item; -1: forgotten or not stored
};
SlotWords slot_words(const ShownMemory& memory, const Theme& theme, Index marked_column);

// Preferred height for draw_range().
double range_height(const Page& page, const ShownMemory& memory);
// Draws the segments of the text, the memory of the selected segment, and the receptive field of
// each layer. `oldest_tokens`: the oldest token in the receptive field of each layer. Returns the
// clickable boxes of the segments.
std::vector<Box> draw_range(Page& page, const Box& box, const ShownMemory& memory,
                            const std::vector<Index>& oldest_tokens);

// Draws the paths of information to the last token of the segment, through pairs within segments
// alone and, if the run has a memory, also through the memory. Returns the height; 0 if the box is
// too small.
double draw_segment_paths(Page& page, const Box& box, const ShownMemory& memory);

// Draws the auxiliary losses of the compressive memory, or the reason why there are none. Returns
// the height.
double draw_memory_losses(Page& page, const Box& box, const ShownMemory& memory);

// Draws the number of query-key products by text length.
void draw_cost(Page& page, const Box& box, const ShownMemory& memory);

// The head's weights (zero width if they do not fit), and below them the mean by slot.
struct WeightPanels {
  MatrixPlot map;
  Chart chart;
  double bottom = 0;
  Index column_at(Point p) const;  // column of the chart at the point; -1 if there is none
};
WeightPanels draw_weights(Page& page, const Box& box, const ShownMemory& memory);

}  // namespace attnscope
