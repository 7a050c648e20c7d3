// Walks on a small square of cells: what a decision transformer learns to act from (the shortest
// paths of Chen et al., 2021, arXiv:2106.01345).
#pragma once

#include <cstdint>

#include "core/model/batch.h"

namespace attnscope {

// 5 x 5 cells with the goal in the middle. Each step costs 0.1 until the goal is reached, so that
// the return that is still to come says how many steps are left. A state is the row and the column,
// from -1 to 1 with the goal at 0; the actions are up, right, down and left, and a step against the
// border stays where it is.
struct Grid {
  static constexpr Index kSide = 5, kActions = 4, kStateSize = 2;
  static constexpr Index kCells = kSide * kSide, kGoal = kCells / 2;

  static constexpr float kCost = 0.1f;

  static float return_of(Index steps);  // that are left
  static Index after(Index cell, Index action);
  static Index distance(Index cell);  // steps to the goal, at the fewest
};

// Walks number, number + 1, ...: from a random cell by random actions, `steps` long. What comes
// behind the goal is no target. A walk that does not reach the goal has the return of one that does
// so one step after its last. Returns [B, T], states [B, T, 2], actions and targets [B, T].
Batch random_walks(std::uint64_t seed, std::uint64_t number, Index count, Index steps);

// The state of walks so far, with the last action still to come. cells: [B][t + 1], actions:
// [B][t]; asked: in how many steps the goal is to be reached, [B].
Batch open_walks(const std::vector<std::vector<Index>>& cells,
                 const std::vector<std::vector<Index>>& actions, const std::vector<Index>& asked);

}  // namespace attnscope
