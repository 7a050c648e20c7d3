// Rollouts of a decision transformer: from every cell of its grid (in the plane: from their
// centres), for every target return, with greedy actions until the goal is reached or the steps are
// used up.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/training/acting.h"

namespace attnscope {

struct Rollout : Walk {
  Tensor probabilities;  // Grid: [steps, actions] probability of each action
  // Attention [layers][heads, L, L] in the last step; the L tokens are the returns, states and
  // actions of all steps except the last action.
  std::vector<Tensor> attention;
};

struct Rollouts {
  World world = World::Grid;
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
