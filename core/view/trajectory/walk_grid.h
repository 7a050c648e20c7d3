// The environment of the decision transformer, grid or plane, with a path through it.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/rollouts.h"
#include "core/view/parts/page.h"

namespace attnscope {

// The walk selected by the settings of the view "trajectory".
const Rollout& selected_walk(const Rollouts& rollouts, const ViewSettings& view);

struct WalkGrid {
  Box box;  // square of all cells; in the plane, its square lies between the outer cells' centres
  double cell() const { return box.width / static_cast<double>(Grid::kSide); }
  Box cell_box(Index cell) const;
  Index at(Point p) const;  // cell at a point; -1 if there is none
  Point point(PlaneVector v) const;
};

// Draws the cells, the labels of start and goal, and the first `steps` steps of the walk, the last
// of which has the accent colour. `solved`: cells to tint, by cell index.
void draw_walk(Page& page, const WalkGrid& grid, const Rollout& walk, Index steps,
               const std::vector<bool>& solved);

// The same in the plane: a dot at each start.
void draw_plane_walk(Page& page, const WalkGrid& grid, const Rollout& walk, Index steps,
                     const std::vector<bool>& solved);

// "row 0, column 4".
std::string describe_cell(Index cell);
std::string describe_vector(PlaneVector v);  // "(0.50, -0.25)"
// A start, or the place before a step: a cell or a point.
std::string describe_start(World world, Index start);
std::string describe_place(const Rollout& walk, Index step);
// Name of an action of Grid ("up", "right", "down" or "left"), and its arrow.
const char* action_name(Index action);
const char* action_arrow(Index action);

}  // namespace attnscope
