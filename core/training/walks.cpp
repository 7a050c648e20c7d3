#include "core/training/walks.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/random.h"

namespace attnscope {
namespace {

// Sets row and column relative to the goal, scaled to [-1, 1].
void set_state(Tensor& states, Index b, Index t, Index cell) {
  const auto from_goal = [](Index coordinate, Index goal) {
    return static_cast<float>(coordinate - goal) / static_cast<float>(Grid::kSide / 2);
  };
  states(b, t, Index{0}) = from_goal(cell / Grid::kSide, Grid::kGoal / Grid::kSide);
  states(b, t, Index{1}) = from_goal(cell % Grid::kSide, Grid::kGoal % Grid::kSide);
}

}  // namespace

Index Grid::after(Index cell, Index action) {
  constexpr Index kRows[] = {-1, 0, 1, 0}, kColumns[] = {0, 1, 0, -1};
  const Index row = cell / kSide + kRows[action], column = cell % kSide + kColumns[action];
  const bool is_inside = row >= 0 && row < kSide && column >= 0 && column < kSide;
  return is_inside ? row * kSide + column : cell;
}

Index Grid::distance(Index cell) {
  return std::abs(cell / kSide - kGoal / kSide) + std::abs(cell % kSide - kGoal % kSide);
}

float Grid::return_to_go(Index steps) {
  return -kCost * static_cast<float>(steps);
}

Batch random_walks(std::uint64_t seed, std::uint64_t number, Index count, Index steps) {
  Batch batch;
  batch.returns = Tensor({count, steps});
  batch.states = Tensor({count, steps, Grid::kStateSize});
  batch.actions = IntTensor({count, steps});
  batch.targets = IntTensor::full({count, steps}, -1);
  for (Index b = 0; b < count; ++b) {
    Random random(derived_seed(seed, number + static_cast<std::uint64_t>(b)));
    Index cell = static_cast<Index>(random.below(Grid::kCells));
    Index goal_step = steps + 1;  // number of steps to the goal
    for (Index t = 0; t < steps; ++t) {
      if (cell == Grid::kGoal) goal_step = std::min(goal_step, t);
      set_state(batch.states, b, t, cell);
      const auto action = static_cast<Index>(random.below(Grid::kActions));
      batch.actions(b, t) = static_cast<std::int32_t>(action);
      if (cell == Grid::kGoal) continue;  // stays at the goal
      batch.targets(b, t) = static_cast<std::int32_t>(action);
      cell = Grid::after(cell, action);
    }
    if (cell == Grid::kGoal) goal_step = std::min(goal_step, steps);
    for (Index t = 0; t < steps; ++t) {
      batch.returns(b, t) = Grid::return_to_go(std::max<Index>(goal_step - t, 0));
    }
  }
  return batch;
}

Batch unfinished_walks(const std::vector<std::vector<Index>>& cells,
                       const std::vector<std::vector<Index>>& actions,
                       const std::vector<Index>& desired_steps) {
  const auto count = static_cast<Index>(cells.size()),
             steps = static_cast<Index>(cells.front().size());
  Batch batch;
  batch.returns = Tensor({count, steps});
  batch.states = Tensor({count, steps, Grid::kStateSize});
  batch.actions = IntTensor::full({count, steps}, -1);
  for (Index b = 0; b < count; ++b) {
    const auto index = static_cast<std::size_t>(b);
    for (Index t = 0; t < steps; ++t) {
      const auto step = static_cast<std::size_t>(t);
      batch.returns(b, t) = Grid::return_to_go(std::max<Index>(desired_steps[index] - t, 0));
      set_state(batch.states, b, t, cells[index][step]);
      if (t + 1 < steps) batch.actions(b, t) = static_cast<std::int32_t>(actions[index][step]);
    }
  }
  return batch;
}

}  // namespace attnscope
