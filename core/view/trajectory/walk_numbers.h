// Numbers and descriptions of a model's walks.
#pragma once

#include <string>

#include "core/view/trajectory/walk_grid.h"

namespace attnscope {

constexpr Index kTokensOfStep = 3;  // return, state, action

// A walk, limited to the selected number of steps.
struct ShownWalk {
  const Rollouts& rollouts;
  const Rollout& walk;
  Index steps = 0;  // number of drawn steps
  // Number of tokens that the model reads: all but the action of the last step.
  Index tokens() const { return kTokensOfStep * walk.steps() - 1; }
  double remaining_return(Index step) const;  // still desired before this step
};
ShownWalk shown_steps(const Rollouts& rollouts, const ViewSettings& view);

// The shown head's weights in the rows that choose an action.  [steps, tokens]; undefined: the
// model has no such head.
Tensor decision_weights(const ShownWalk& shown, const ViewSettings& view);

std::string about_walks(const Trace& trace, const Rollouts& rollouts);  // for the caption
// Outcome of the walk, with a comment.
std::string outcome_words(const Rollout& walk);
std::string token_words(const Rollout& walk, Index token);  // "the cell of step 3"
std::string return_words(double value);

// True for trajectory models, and the message for other models.
bool acts(const Trace& trace);
inline constexpr const char* kNoTrajectory =
    "This model does not act: it does not read trajectories.";

// Exported numbers: desired and achieved returns from every cell, and the shown walk.
ViewData trajectory_data(const ViewInput& input);

}  // namespace attnscope
