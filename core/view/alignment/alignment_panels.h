// What is drawn of an alignment.
#pragma once

#include "core/view/alignment/alignment_places.h"

namespace attnscope {

struct ShownAlignment {
  const WrittenTarget& written;
  const AlignmentNumbers& numbers;
  const AlignmentPlaces& places;
  const AlignmentFocus focus;
};

// From the source's tokens to the letters, as thick as the weights; and the boxes of both.
void draw_ribbons(Page& page, const ShownAlignment& shown);
void draw_token_boxes(Page& page, const ShownAlignment& shown);
// The same weights as a map of source by target.
void draw_alignment_matrix(Page& page, const ShownAlignment& shown);
// What could have come in the place of the letter that is looked at, and the beams of its step.
void draw_candidates(Page& page, const ShownAlignment& shown);

}  // namespace attnscope
