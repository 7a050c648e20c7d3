// Panels of the flow view.
#pragma once

#include "core/view/flow/flow_pen.h"
#include "core/view/flow/flow_words.h"

namespace attnscope {

// Boxes that react to the pointer.
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

// Stages from tokens to embedding, from query to head output, from heads to the next token.
void draw_flow_input(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                     FlowTargets& targets);
void draw_flow_head(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                    FlowTargets& targets);
void draw_flow_layers(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                      FlowTargets& targets);
// Number of rows below the key rows.
Index flow_extra_rows(const FlowSum& sum);

// Up to `most` rows of `count`: the first, the last, those around `selected`; -1: omitted rows.
std::vector<Index> flow_rows(Index count, Index selected, Index most);

}  // namespace attnscope
