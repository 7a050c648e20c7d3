// Drawing of a placed diagram.
#pragma once

#include "core/view/architecture/placement.h"

namespace attnscope {

void draw_diagram(Page& page, const Diagram& diagram, const Placement& placement);

// A box of the diagram with its position.
struct PlacedPart {
  const DiagramPart* part;
  Box box;
};
std::vector<PlacedPart> placed_parts(const Diagram& diagram, const Placement& placement);

}  // namespace attnscope
