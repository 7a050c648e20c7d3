// The grid that a decision transformer walks on, with a way through it.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/rollouts.h"
#include "core/view/parts/page.h"

namespace attnscope {

// The walk that the settings of the view "trajectory" ask for.
const Rollout& shown_walk(const Rollouts& rollouts, const ViewSettings& view);

struct WalkGrid {
  Box box;  // of all cells, square
  double cell() const { return box.width / static_cast<double>(Grid::kSide); }
  Box of(Index cell) const;
  Index at(Point p) const;  // the cell there; -1: none
};

// The cells, those of `solved` tinted, start and goal by name, and the first `steps` steps of the
// walk, the last of them in the accent's colour.
void draw_walk(Page& page, const WalkGrid& grid, const Rollout& walk, Index steps,
               const std::vector<bool>& solved);

// "row 0, column 4".
std::string cell_words(Index cell);
// "up", "right", "down", "left": Grid's actions.
const char* action_name(Index action);
const char* action_arrow(Index action);

}  // namespace attnscope
