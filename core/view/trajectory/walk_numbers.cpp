#include "core/view/trajectory/walk_numbers.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/view/parts/describe.h"

namespace attnscope {
namespace {

std::string steps_text(Index steps) {
  return std::to_string(steps) + (steps == 1 ? " step" : " steps");
}

std::string cost_sentence(const Rollouts& rollouts) {
  const bool is_sparse = !rollouts.all.empty() && rollouts.all.front().sparse_rewards;
  return is_sparse ? "A step costs 0.1, charged at the end: the desired return stays the same."
                   : "A step costs 0.1.";
}

ViewData::Matrix returns_table(const Rollouts& rollouts) {
  Tensor achieved = Tensor::full({Grid::kCells, rollouts.max_steps}, NAN);
  for (const Rollout& walk : rollouts.all) {
    achieved(walk.start, walk.target_steps - 1) = static_cast<float>(walk.achieved());
  }
  ViewData::Matrix returns{"achieved return", achieved, {}, {}, {}};
  for (Index cell = 0; cell < Grid::kCells; ++cell) {
    returns.rows.push_back("from " + describe_start(rollouts.world, cell));
  }
  for (Index target_steps = 1; target_steps <= rollouts.max_steps; ++target_steps) {
    returns.columns.push_back("requested " +
                              return_text(static_cast<double>(Grid::return_to_go(target_steps))));
  }
  return returns;
}

ViewData::Matrix plane_table(const Rollout& walk) {
  ViewData::Matrix steps{"walk",
                         Tensor({walk.steps(), 5}),
                         {},
                         {"x", "y", "requested return", "action x", "action y"}};
  for (Index t = 0; t < walk.steps(); ++t) {
    const auto n = static_cast<std::size_t>(t);
    steps.rows.push_back("step " + std::to_string(t + 1));
    steps.values(t, 0) = walk.points[n].x;
    steps.values(t, 1) = walk.points[n].y;
    steps.values(t, 2) = static_cast<float>(walk.requested_return(t));
    steps.values(t, 3) = walk.moves[n].x;
    steps.values(t, 4) = walk.moves[n].y;
  }
  return steps;
}

ViewData::Matrix walk_table(const Rollout& walk) {
  if (walk.world == World::Plane) return plane_table(walk);
  ViewData::Matrix steps{"walk",
                         Tensor({walk.steps(), 4 + Grid::kActions}),
                         {},
                         {"row", "column", "requested return", "action"}};
  for (Index action = 0; action < Grid::kActions; ++action) {
    steps.columns.push_back(std::string("p of ") + action_name(action));
  }
  for (Index t = 0; t < walk.steps(); ++t) {
    const auto n = static_cast<std::size_t>(t);
    steps.rows.push_back("step " + std::to_string(t + 1));
    steps.values(t, 0) = static_cast<float>(walk.cells[n] / Grid::kSide);
    steps.values(t, 1) = static_cast<float>(walk.cells[n] % Grid::kSide);
    steps.values(t, 2) = static_cast<float>(walk.requested_return(t));
    steps.values(t, 3) = static_cast<float>(walk.actions[n]);
    for (Index action = 0; action < Grid::kActions; ++action)
      steps.values(t, 4 + action) = walk.probabilities(t, action);
  }
  return steps;
}

}  // namespace

double WalkPart::remaining_return(Index step) const {
  return walk.requested_return(step);
}

WalkPart selected_steps(const Rollouts& rollouts, const ViewSettings& view) {
  const Rollout& walk = selected_walk(rollouts, view);
  const Values values = view_values(view, "trajectory");
  const Index steps = values.has("step")
                          ? std::clamp<Index>(values.integer("step"), 0, walk.steps())
                          : walk.steps();
  return {rollouts, walk, steps};
}

Tensor decision_weights(const WalkPart& part, const ViewSettings& view) {
  const Rollout& walk = part.walk;
  if (view.layer >= static_cast<Index>(walk.attention.size())) return {};
  const Tensor& layer = walk.attention[static_cast<std::size_t>(view.layer)];
  if (view.head >= layer.dim(0)) return {};
  Tensor rows({walk.steps(), part.tokens()});
  for (Index t = 0; t < walk.steps(); ++t) {
    const Index query = kTokensOfStep * t + 1;
    for (Index key = 0; key < part.tokens(); ++key) {
      rows(t, key) = key <= query ? layer(view.head, query, key) : NAN;
    }
  }
  return rows;
}

namespace {

std::string describe_steering(const Rollouts& rollouts) {
  return "The model steers a point in a square, trained on walks of mixed quality: inputs are the "
         "desired return and the point, output is a vector of numbers, not a choice. A step moves "
         "the point by " +
         fixed(static_cast<double>(SteeringPlane::kPace), 2) +
         " times the vector, of length 1 at most, " + "until it is within " +
         fixed(static_cast<double>(SteeringPlane::kGoalRadius), 2) + " of the goal or " +
         steps_text(rollouts.max_steps) + " are made. " + cost_sentence(rollouts) +
         " Rolled out from " + std::to_string(Grid::kCells - 1) + " starts for all returns.";
}

std::string describe_grid_walks(const Rollouts& rollouts) {
  return "The model acts on a grid of 5 by 5 cells, trained on random walks only: inputs are the "
         "desired return and the cell, output is the most likely of four actions, step by step "
         "until the goal is reached or " +
         steps_text(rollouts.max_steps) + " are made. " + cost_sentence(rollouts) +
         " Rolled out from all " + std::to_string(Grid::kCells - 1) + " cells for all returns.";
}

}  // namespace

std::string describe_walks(const Trace& trace, const Rollouts& rollouts) {
  std::string text =
      rollouts.world == World::Grid ? describe_grid_walks(rollouts) : describe_steering(rollouts);
  for (const std::string& note : trace.notes) {
    text += " " + capitalised(note) + (note.ends_with('.') ? "" : ".");
  }
  return text;
}

std::string outcome_in_brief(const Rollout& walk) {
  return (walk.reached ? "Goal reached after " : "No goal after ") + steps_text(walk.steps()) +
         ": return " + return_text(walk.achieved());
}

std::string describe_outcome(const Rollout& walk) {
  std::string text = "For return " + return_text(walk.target_return()) + " (" +
                     steps_text(walk.target_steps) + "), the model ";
  if (!walk.reached) {
    return text + "has not reached the goal after " + steps_text(walk.steps()) + ": return " +
           return_text(walk.achieved()) + ".";
  }
  const Index fewest = walk.fewest_steps();
  text += "reaches the goal after " + std::to_string(walk.steps()) + ": return " +
          return_text(walk.achieved());
  if (walk.steps() == walk.target_steps) return text + ", as requested.";
  if (walk.target_steps < fewest) {
    return text + ". The shortest path has " + steps_text(fewest) + ".";
  }
  return text + (walk.steps() < walk.target_steps ? ", earlier than requested."
                                                  : ", later than requested.");
}

std::string describe_token(const Rollout& walk, Index token) {
  const Index t = token / kTokensOfStep;
  const std::string step = " of step " + std::to_string(t + 1);
  if (token % kTokensOfStep == 0) return "the desired return" + step;
  if (token % kTokensOfStep == 1) {
    return (walk.world == World::Grid ? "the cell" : "the point") + step;
  }
  const auto n = static_cast<std::size_t>(t);
  if (walk.world == World::Plane) {
    return "the action" + step + ", " + describe_vector(walk.moves[n]);
  }
  return "the action" + step + " (" + action_name(walk.actions[n]) + ")";
}

std::string return_text(double value) {
  return fixed(value, 1);
}

bool acts(const Trace& trace) {
  return trace.config != nullptr &&
         architecture(trace.config->architecture.id).reads == Reads::Trajectories;
}

ViewData trajectory_data(const ViewInput& input) {
  if (!acts(input.trace)) throw InputError(kNoTrajectory);
  const auto rollouts = input.findings.get(Findings::rollouts);
  if (rollouts == nullptr) throw InputError("trajectory: the paths are not computed yet");
  if (!rollouts->problem.empty()) throw InputError(rollouts->problem);
  return {{returns_table(*rollouts), walk_table(selected_walk(*rollouts, input.session.view))}};
}

}  // namespace attnscope
