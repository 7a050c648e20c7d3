// Random walks on a small grid: training data of a Decision Transformer (shortest paths, Chen et
// al., 2021, arXiv:2106.01345).
#pragma once

#include <cstdint>

#include "core/model/batch.h"

namespace attnscope {

// 5 x 5 cells with the goal in the middle. Each step costs 0.1 until the goal is reached, so that
// the return to go is -0.1 times the number of remaining steps. A state is row and column, from -1
// to 1 with the goal at 0. Actions: up, right, down, left; a step across the border has no effect.
struct Grid {
  static constexpr Index kSide = 5, kActions = 4, kStateSize = 2;
  static constexpr Index kCells = kSide * kSide, kGoal = kCells / 2;

  static constexpr float kCost = 0.1f;

  static float return_to_go(Index steps);  // return to go of `steps` remaining steps
  static Index after(Index cell, Index action);
  static Index distance(Index cell);  // minimum number of steps to the goal
};

// Walks `number`, number + 1, ...: `steps` random actions from a random cell. Steps after the goal
// are not targets. A walk of `steps` steps that misses the goal has the return of a walk that
// reaches it in steps + 1. Returns [B, T], states [B, T, 2], actions and targets [B, T].
Batch random_walks(std::uint64_t seed, std::uint64_t number, Index count, Index steps);

// Batch of unfinished walks, for predicting their next actions. cells [B][t + 1]: visited cells;
// actions [B][t]; desired_steps [B]: desired steps to the goal.
Batch unfinished_walks(const std::vector<std::vector<Index>>& cells,
                       const std::vector<std::vector<Index>>& actions,
                       const std::vector<Index>& desired_steps);

}  // namespace attnscope
