// A decision transformer let loose: from every cell of its grid, asked for every return, acting as
// it thinks likeliest until it reaches the goal or its steps are used up.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/tensor/tensor.h"
#include "core/training/walks.h"

namespace attnscope {

struct Rollout {
  Index start = 0, asked = 0;  // the cell; in how many steps the goal was to be reached
  std::vector<Index> cells;    // [steps + 1] that were passed, the start first
  std::vector<Index> actions;  // [steps]
  Tensor chances;              // [steps, actions] the probability of each action
  // Of the last step's run over all tokens (return, state, action of each step but the last
  // action): of each layer the heads' weights.  [layers][heads, L, L]
  std::vector<Tensor> attention;
  bool reached = false;

  Index steps() const { return static_cast<Index>(actions.size()); }
  // The return: one that does not reach the goal has that of one that does so one step after its
  // last, as in training (walks.h).
  double achieved() const {
    return static_cast<double>(Grid::return_of(steps() + (reached ? 0 : 1)));
  }
  double asked_return() const { return static_cast<double>(Grid::return_of(asked)); }
};

struct Rollouts {
  Index most_steps = 0;
  std::vector<Rollout> all;  // by start, then by what was asked: 1, 2, .. most_steps
  std::string problem;       // why there are none

  // Null: there is none.
  const Rollout* find(Index start, Index asked) const;
  // Over all starts, the mean of what was achieved where `asked` steps were asked for.
  double mean_achieved(Index asked) const;
  // Of those starts from which `asked` steps can reach the goal, the share that did so in so many.
  struct Share {
    Index reached = 0, of = 0;
  };
  Share kept_their_word(Index asked) const;  // in no more than asked
  Share shortest() const;                    // each asked for its shortest way, and taking it
};

}  // namespace attnscope
