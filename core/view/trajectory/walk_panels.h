// What is drawn of a walk.
#pragma once

#include "core/view/parts/chart.h"
#include "core/view/trajectory/walk_places.h"

namespace attnscope {

struct WalkPicture {
  const ShownWalk& shown;
  const WalkPlaces& places;
  const WalkFocus focus;
};

void draw_way(Page& page, const WalkPicture& picture);
// What was achieved against what was asked for. Empty where there is no space for it.
Chart draw_returns(Page& page, const WalkPicture& picture);
// How likely each action was at the step that is looked at.
void draw_actions(Page& page, const WalkPicture& picture);
// At which of its tokens the shown head looks before each step.
void draw_decisions(Page& page, const WalkPicture& picture);

}  // namespace attnscope
