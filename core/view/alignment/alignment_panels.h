// Panels of the alignment view.
#pragma once

#include "core/view/alignment/alignment_layout.h"

namespace attnscope {

struct ShownAlignment {
  const GeneratedTarget& target;
  const AlignmentNumbers& numbers;
  const AlignmentPlaces& places;
  const AlignmentFocus focus;
};

// Draw ribbons whose thickness shows the weight, and the boxes of source tokens and letters.
void draw_ribbons(Page& page, const ShownAlignment& shown);
void draw_token_boxes(Page& page, const ShownAlignment& shown);
// Draws the weights as a heat map, with a row for each source token and a column for each letter.
void draw_alignment_matrix(Page& page, const ShownAlignment& shown);
// Draws the candidates for the focused letter, and the beams of its search step.
void draw_candidates(Page& page, const ShownAlignment& shown);

}  // namespace attnscope
