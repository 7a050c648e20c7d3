// Panels of the flow view.
#pragma once

#include "core/view/flow/flow_pen.h"
#include "core/view/flow/flow_words.h"

namespace attnscope {

// Boxes that react to the pointer.
struct FlowTargets {
  struct Row {
    Box box;
    Index index = 0;
  };
  std::vector<Row> tokens;  // index: token in the queries' stream
  std::vector<Row> keys;    // index: key column
  std::vector<Row> heads;   // index: head
  std::vector<Row> states;  // index in FlowNumbers::states
};

// Draw the stages of the input, of the selected head, and from the heads to the next token.
void draw_flow_input(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                     FlowTargets& targets);
void draw_flow_head(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                    FlowTargets& targets);
void draw_flow_layers(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                      FlowTargets& targets);
// Number of rows below the key rows: the other keys, sums.
Index flow_extra_rows(const FlowSum& sum);

// Up to `max_rows` indices in [0, count): first, last, around `selected`; -1 marks omitted rows.
std::vector<Index> flow_rows(Index count, Index selected, Index max_rows);

}  // namespace attnscope
