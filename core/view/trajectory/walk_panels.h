// Panels of the Trajectory view.
#pragma once

#include "core/view/parts/chart.h"
#include "core/view/trajectory/walk_layout.h"

namespace attnscope {

struct WalkPicture {
  const ShownWalk& shown;
  const WalkPlaces& places;
  const WalkFocus focus;
};

void draw_path_panel(Page& page, const WalkPicture& picture);
// Draws achieved against desired return. Returns an empty chart if there is no space.
Chart draw_returns(Page& page, const WalkPicture& picture);
// Draws the action probabilities of the selected step.
void draw_actions(Page& page, const WalkPicture& picture);
// Draws the shown head's attention before each step.
void draw_decisions(Page& page, const WalkPicture& picture);

}  // namespace attnscope
