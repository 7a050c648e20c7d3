// Steering in the plane: training data of a Decision Transformer with continuous actions (Chen et
// al., 2021, arXiv:2106.01345).
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/batch.h"

namespace attnscope {

// Vector to the right (x) and up (y).
struct PlaneVector {
  float x = 0, y = 0;
  bool operator==(const PlaneVector&) const = default;
};
float length(PlaneVector v);

// The square from -1 to 1 with the goal around 0. An action is a vector, shortened to length 1 if
// it is longer; a step moves the point by kPace times the action, within the square. Each step
// costs 0.1, as on the grid (walks.h), until the point is nearer to 0 than kGoalRadius. A state is
// the point itself.
struct SteeringPlane {
  static constexpr Index kStateSize = 2, kActionSize = 2;
  static constexpr float kPace = 0.25f, kGoalRadius = 0.16f;

  // Centre of a cell of the grid, as a start.
  static PlaneVector centre(Index cell);
  static PlaneVector after(PlaneVector point, PlaneVector action);
  static bool is_goal(PlaneVector point) { return length(point) <= kGoalRadius; }
  static Index fewest_steps(PlaneVector point);  // minimum number of steps to the goal
};

// Steered walks `number`, number + 1, ... of mixed quality: each has a skill, uniform in [0, 1),
// and its actions are the skill times the best action, plus a random vector of a length below (1 -
// skill) / 2. Starts are uniform in the square. As in random_walks(), steps after the goal are not
// targets, and a walk of `steps` steps that misses the goal has the return of steps + 1. Returns
// [B, T], states [B, T, 2], moves [B, T, 2], targets [B, T].
Batch steered_walks(std::uint64_t seed, std::uint64_t number, Index count, Index steps);

// Batch of unfinished walks, for predicting their next actions. points [B][t + 1], actions [B][t];
// desired_steps [B]: desired steps to the goal.
Batch unfinished_steering(const std::vector<std::vector<PlaneVector>>& points,
                          const std::vector<std::vector<PlaneVector>>& actions,
                          const std::vector<Index>& desired_steps);

}  // namespace attnscope
