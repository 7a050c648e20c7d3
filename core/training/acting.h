// Walks of trajectory models in their environments: the grid (walks.h), and the plane (plane.h) for
// models with continuous actions.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/training/plane.h"
#include "core/training/walks.h"

namespace attnscope {

enum class World { Grid, Plane };

// Reason why a model acts in neither environment; empty if it acts in one.
std::string world_refusal(const ModelConfig& config);
// Environment of a model with an empty world_refusal().
World world_of(const ModelConfig& config);

// A walk from a cell, or in the plane from the centre of a cell, for a target return.
struct Walk {
  World world = World::Grid;
  Index start = 0, target_steps = 0;  // start cell, target number of steps
  std::vector<Index> cells;           // Grid: [steps + 1] visited cells, the start first
  std::vector<Index> actions;         // Grid: [steps]
  std::vector<PlaneVector> points;    // Plane: [steps + 1] visited points, the start first
  std::vector<PlaneVector> moves;     // Plane: [steps] actions
  bool reached = false;               // true if the walk ended at the goal
  bool sparse_rewards = false;        // true if the reward comes after the last step

  Index steps() const {
    return static_cast<Index>(world == World::Grid ? actions.size() : moves.size());
  }
  Index fewest_steps() const {  // of any walk from the start
    return world == World::Grid ? Grid::distance(start)
                                : SteeringPlane::fewest_steps(SteeringPlane::centre(start));
  }
  // Achieved return. A walk that misses the goal counts as reaching it one step after its last
  // step, as in training.
  double achieved() const {
    return static_cast<double>(Grid::return_to_go(steps() + (reached ? 0 : 1)));
  }
  // Return to go that is requested at a step: with sparse rewards the target throughout.
  double requested_return(Index step) const {
    const Index remaining = sparse_rewards ? target_steps : std::max<Index>(target_steps - step, 0);
    return static_cast<double>(Grid::return_to_go(remaining));
  }
  double target_return() const { return static_cast<double>(Grid::return_to_go(target_steps)); }
};
// Walk of a model with an empty world_refusal(), without steps.
Walk walk_from(const ModelConfig& config, Index start, Index target_steps);

// The last `context` steps of unfinished walks of equal length; 0: all steps.
Batch visible_steps(const std::vector<const Walk*>& walks, Index context);

// Takes the most likely, or the predicted continuous action in each of these unfinished walks of
// equal length. Returns the model's outputs [walks, vocabulary] that chose them.
Tensor take_step(const Model& model, const std::vector<Walk*>& walks, Index context);

// Share of the starts from which the model reaches the goal in the fewest steps, if these are
// requested; of those that need at most `max_steps` steps.
double fewest_steps_share(const Model& model, Index max_steps);

}  // namespace attnscope
