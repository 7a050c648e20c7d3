// Panels of the Trajectory view.
#pragma once

#include "core/view/parts/chart.h"
#include "core/view/trajectory/walk_layout.h"

namespace attnscope {

struct WalkPicture {
  const WalkPart& part;
  const WalkPlaces& places;
  const WalkFocus focus;
};

void draw_path_panel(Page& page, const WalkPicture& picture);
// Draws a chart of achieved against desired return. Returns an empty chart if it does not fit.
Chart draw_returns(Page& page, const WalkPicture& picture);
// Draws the action probabilities of the selected step.
void draw_actions(Page& page, const WalkPicture& picture);
// Draws the continuous action of the selected step: its vector in the circle of the fastest ones.
void draw_move(Page& page, const Box& box, const WalkPicture& picture);
// Draws the attention of the selected head before each step.
void draw_decisions(Page& page, const WalkPicture& picture);

}  // namespace attnscope
