#include "core/training/plane.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/base/random.h"
#include "core/training/walks.h"

namespace attnscope {
namespace {

void set_vector(Tensor& values, Index b, Index t, PlaneVector v) {
  values(b, t, Index{0}) = v.x;
  values(b, t, Index{1}) = v.y;
}

PlaneVector scaled(PlaneVector v, float factor) {
  return {factor * v.x, factor * v.y};
}

// The action that brings a point nearest to 0.
PlaneVector best_action(PlaneVector point) {
  const float distance = length(point);
  return scaled(point, -std::min(1.0f, distance / SteeringPlane::kPace) / distance);
}

// Vector of a length below 1, of any direction.
PlaneVector random_vector(Random& random) {
  const double angle = 2 * std::numbers::pi * random.uniform(), size = random.uniform();
  return {static_cast<float>(size * std::cos(angle)), static_cast<float>(size * std::sin(angle))};
}

PlaneVector random_point(Random& random) {
  const auto coordinate = [&] { return static_cast<float>(2 * random.uniform() - 1); };
  const float x = coordinate();
  return {x, coordinate()};
}

}  // namespace

float length(PlaneVector v) {
  return std::hypot(v.x, v.y);
}

PlaneVector SteeringPlane::centre(Index cell) {
  constexpr auto kHalf = static_cast<float>(Grid::kSide / 2);
  return {static_cast<float>(cell % Grid::kSide) / kHalf - 1,
          1 - static_cast<float>(cell / Grid::kSide) / kHalf};
}

PlaneVector SteeringPlane::after(PlaneVector point, PlaneVector action) {
  const PlaneVector move = scaled(action, kPace / std::max(1.0f, length(action)));
  return {std::clamp(point.x + move.x, -1.0f, 1.0f), std::clamp(point.y + move.y, -1.0f, 1.0f)};
}

Index SteeringPlane::fewest_steps(PlaneVector point) {
  return static_cast<Index>(std::ceil(std::max(0.0f, length(point) - kGoalRadius) / kPace));
}

Batch steered_walks(std::uint64_t seed, std::uint64_t number, Index count, Index steps) {
  Batch batch;
  batch.returns = Tensor({count, steps});
  batch.states = Tensor({count, steps, SteeringPlane::kStateSize});
  batch.moves = Tensor({count, steps, SteeringPlane::kActionSize});
  batch.targets = IntTensor::full({count, steps}, -1);
  for (Index b = 0; b < count; ++b) {
    Random random(derived_seed(seed, number + static_cast<std::uint64_t>(b)));
    PlaneVector point = random_point(random);
    const auto skill = static_cast<float>(random.uniform());
    Index goal_step = steps + 1;  // number of steps to the goal
    for (Index t = 0; t < steps; ++t) {
      if (SteeringPlane::is_goal(point)) goal_step = std::min(goal_step, t);
      set_vector(batch.states, b, t, point);
      const PlaneVector noise = scaled(random_vector(random), (1 - skill) / 2);
      if (SteeringPlane::is_goal(point)) {  // stays at the goal
        set_vector(batch.moves, b, t, noise);
        continue;
      }
      const PlaneVector best = scaled(best_action(point), skill);
      const PlaneVector action{best.x + noise.x, best.y + noise.y};
      set_vector(batch.moves, b, t, action);
      batch.targets(b, t) = 0;
      point = SteeringPlane::after(point, action);
    }
    if (SteeringPlane::is_goal(point)) goal_step = std::min(goal_step, steps);
    for (Index t = 0; t < steps; ++t) {
      batch.returns(b, t) = Grid::return_to_go(std::max<Index>(goal_step - t, 0));
    }
  }
  return batch;
}

Batch unfinished_steering(const std::vector<std::vector<PlaneVector>>& points,
                          const std::vector<std::vector<PlaneVector>>& actions,
                          const std::vector<Index>& desired_steps) {
  const auto count = static_cast<Index>(points.size()),
             steps = static_cast<Index>(points.front().size());
  Batch batch;
  batch.returns = Tensor({count, steps});
  batch.states = Tensor({count, steps, SteeringPlane::kStateSize});
  batch.moves = Tensor::full({count, steps, SteeringPlane::kActionSize},
                             std::numeric_limits<float>::quiet_NaN());
  for (Index b = 0; b < count; ++b) {
    const auto index = static_cast<std::size_t>(b);
    for (Index t = 0; t < steps; ++t) {
      const auto step = static_cast<std::size_t>(t);
      batch.returns(b, t) = Grid::return_to_go(std::max<Index>(desired_steps[index] - t, 0));
      set_vector(batch.states, b, t, points[index][step]);
      if (t + 1 < steps) set_vector(batch.moves, b, t, actions[index][step]);
    }
  }
  return batch;
}

}  // namespace attnscope
