// Panels of the flow view.
#pragma once

#include "core/view/flow/flow_pen.h"
#include "core/view/flow/flow_words.h"

namespace attnscope {

// Hit targets.
struct FlowTargets {
  struct Row {
    Box box;
    Index at = 0;
  };
  std::vector<Row> tokens;  // by index in the text of the queries
  std::vector<Row> keys;    // by column
  std::vector<Row> heads;
  std::vector<Row> states;  // by index in FlowNumbers::states
};

// Draws tokens and embedding.
void draw_flow_input(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                     FlowTargets& targets);
// Draws the stages from query to head output.
void draw_flow_head(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                    FlowTargets& targets);
// Draws the stages from the heads to the next token.
void draw_flow_layers(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                      FlowTargets& targets);
// Number of rows below those of the keys.
Index flow_extra_rows(const FlowSum& sum);

// Selects `most` of `count` rows: the first, the last, and those around `chosen`.
std::vector<Index> flow_rows(Index count, Index chosen, Index most);

}  // namespace attnscope
