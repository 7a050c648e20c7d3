// The panels of the view Flow.
#pragma once

#include "core/view/flow/flow_pen.h"
#include "core/view/flow/flow_words.h"

namespace attnscope {

// Places to point at and to click.
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

// Tokens and embedding.
void draw_flow_input(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                     FlowTargets& targets);
// From the query to what the head says.
void draw_flow_head(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                    FlowTargets& targets);
// From the heads to the next token.
void draw_flow_layers(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                      FlowTargets& targets);
// How many rows stand below the keys, where so many keys have one.
Index flow_extra_rows(const FlowSum& sum);

// Which of `count` rows are shown where there is room for `most`: the first, the last, and those
// about `chosen`.
std::vector<Index> flow_rows(Index count, Index chosen, Index most);

}  // namespace attnscope
