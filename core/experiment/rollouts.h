// Rollouts of a decision transformer: from every cell of its grid, for every target return, with
// greedy actions until the goal is reached or the steps are used up.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/training/walks.h"

namespace attnscope {

struct Rollout {
  Index start = 0, target_steps = 0;  // start cell, target number of steps
  std::vector<Index> cells;           // [steps + 1] visited cells, the start first
  std::vector<Index> actions;         // [steps]
  Tensor probabilities;               // [steps, actions] probability of each action
  // Attention [layers][heads, L, L] in the last step; the L tokens are the returns, states and
  // actions of all steps except the last action.
  std::vector<Tensor> attention;
  bool reached = false;  // true if the rollout ended at the goal

  Index steps() const { return static_cast<Index>(actions.size()); }
  // Achieved return. A rollout that misses the goal counts as reaching it one step after its last
  // step, as in training (walks.h).
  double achieved() const {
    return static_cast<double>(Grid::return_to_go(steps() + (reached ? 0 : 1)));
  }
  double target_return() const { return static_cast<double>(Grid::return_to_go(target_steps)); }
};

struct Rollouts {
  Index max_steps = 0;
  std::vector<Rollout> all;  // sorted by start, then by target steps 1 to max_steps
  std::string problem;       // reason for missing rollouts; empty on success

  const Rollout* find(Index start, Index target_steps) const;
  // Mean achieved return over all starts, for `target_steps`.
  double mean_achieved(Index target_steps) const;
  // Number of successful rollouts, `reached`, and of feasible starts, `of`.
  struct Share {
    Index reached = 0, of = 0;
  };
  Share within_target(Index target_steps) const;  // success: goal reached within the target steps
  Share shortest() const;  // targets: shortest paths; success: a path of this length
};

}  // namespace attnscope
