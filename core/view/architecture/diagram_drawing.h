// Draws a model's figure where its boxes stand.
#pragma once

#include "core/view/architecture/placement.h"

namespace attnscope {

void draw_diagram(Page& page, const Diagram& diagram, const Placement& placement);

// Every box of the figure with its place.
struct PlacedPart {
  const DiagramPart* part;
  Box box;
};
std::vector<PlacedPart> placed_parts(const Diagram& diagram, const Placement& placement);

}  // namespace attnscope
