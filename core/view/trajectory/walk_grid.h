// The grid world of the decision transformer, with a path through it.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/rollouts.h"
#include "core/view/parts/page.h"

namespace attnscope {

// The walk selected by the settings of the view "trajectory".
const Rollout& shown_walk(const Rollouts& rollouts, const ViewSettings& view);

struct WalkGrid {
  Box box;  // of all cells, square
  double cell() const { return box.width / static_cast<double>(Grid::kSide); }
  Box cell_box(Index cell) const;
  Index at(Point p) const;  // index of the cell at a point; -1: none
};

// Draws the cells (those of `solved` tinted), start and goal labels, and the first `steps` steps of
// the walk, the last one in the accent colour.
void draw_walk(Page& page, const WalkGrid& grid, const Rollout& walk, Index steps,
               const std::vector<bool>& solved);

// "row 0, column 4".
std::string cell_words(Index cell);
// Grid's actions: "up", "right", "down", "left".
const char* action_name(Index action);
const char* action_arrow(Index action);

}  // namespace attnscope
