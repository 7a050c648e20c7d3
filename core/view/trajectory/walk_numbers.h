// Numbers and descriptions of a model's walks.
#pragma once

#include <string>

#include "core/view/trajectory/walk_grid.h"

namespace attnscope {

constexpr Index kTokensOfStep = 3;  // return, state, action

// A walk, and the number of its first steps that are drawn.
struct WalkPart {
  const Rollouts& rollouts;
  const Rollout& walk;
  Index steps = 0;  // drawn steps
  // Number of tokens of the whole walk that the model reads: all but the last step's action.
  Index tokens() const { return kTokensOfStep * walk.steps() - 1; }
  double remaining_return(Index step) const;  // return that is still desired before this step
};
WalkPart selected_steps(const Rollouts& rollouts, const ViewSettings& view);

// Weights [steps, tokens] of the selected head, with a row for each chosen action; undefined if the
// model lacks the head.
Tensor decision_weights(const WalkPart& part, const ViewSettings& view);

std::string describe_walks(const Trace& trace, const Rollouts& rollouts);  // for the caption
// "For return -0.4 (4 steps), the model reaches the goal after 4: return -0.4, as requested."
std::string describe_outcome(const Rollout& walk);
std::string outcome_in_brief(const Rollout& walk);  // "Goal reached after 4 steps: return -0.4"
std::string describe_token(const Rollout& walk, Index token);  // "the cell of step 3"
std::string return_text(double value);

bool acts(const Trace& trace);  // true for models that read trajectories
inline constexpr const char* kNoTrajectory =
    "This model does not act: it does not read trajectories.";

// Exported numbers: desired and achieved returns from every cell, and the shown walk.
ViewData trajectory_data(const ViewInput& input);

}  // namespace attnscope
