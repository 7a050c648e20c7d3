// What is shown of a model's walks, in numbers and words.
#pragma once

#include <string>

#include "core/view/trajectory/walk_grid.h"

namespace attnscope {

constexpr Index kTokensOfStep = 3;  // return, state, action

// A walk as far as the settings have it go.
struct ShownWalk {
  const Rollouts& rollouts;
  const Rollout& walk;
  Index steps = 0;  // that are drawn
  // Of what the model read before its last step: all but the action that it chose then.
  Index tokens() const { return kTokensOfStep * walk.steps() - 1; }
  double still_asked(Index step) const;
};
ShownWalk shown_steps(const Rollouts& rollouts, const ViewSettings& view);

// The shown head's weights of the rows that choose an action.  [steps, tokens]; undefined: the
// model has no such head.
Tensor decisions_of(const ShownWalk& shown, const ViewSettings& view);

std::string about_walks(const Trace& trace, const Rollouts& rollouts);  // for the caption
// What happened, and what there is to notice.
std::string happened_words(const Rollout& walk);
std::string token_words(const Rollout& walk, Index token);  // "the cell of step 3"
std::string return_words(double value);

// Whether the model acts, and what is said where it does not.
bool acts(const Trace& trace);
inline constexpr const char* kNoTrajectory = "This model does not act: it reads no trajectories.";

// What was asked and achieved from every cell, and the shown walk.
ViewData trajectory_data(const ViewInput& input);

}  // namespace attnscope
