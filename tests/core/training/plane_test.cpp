#include "core/training/plane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/training/walks.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

PlaneVector vector_at(const Tensor& values, Index b, Index t) {
  return {values(b, t, Index{0}), values(b, t, Index{1})};
}

TEST(SteeringPlane, MovesByThePaceWithinTheSquare) {
  EXPECT_EQ(SteeringPlane::after({0, 0}, {1, 0}), (PlaneVector{0.25f, 0}));
  EXPECT_EQ(SteeringPlane::after({0, 0}, {0, -0.5f}), (PlaneVector{0, -0.125f}));
  const PlaneVector shortened = SteeringPlane::after({0, 0}, {1, 1});
  EXPECT_NEAR(length(shortened), 0.25, 1e-6);
  EXPECT_EQ(SteeringPlane::after({0.9f, -1}, {1, 0}), (PlaneVector{1, -1}));
  EXPECT_EQ(SteeringPlane::centre(0), (PlaneVector{-1, 1}));
  EXPECT_EQ(SteeringPlane::centre(Grid::kGoal), (PlaneVector{0, 0}));
  EXPECT_EQ(SteeringPlane::centre(14), (PlaneVector{1, 0}));
}

// The straight walk at full pace needs the fewest steps.
TEST(SteeringPlane, CountsTheFewestSteps) {
  EXPECT_EQ(SteeringPlane::fewest_steps({0.1f, 0.1f}), 0);
  for (Index cell = 0; cell < Grid::kCells; ++cell) {
    PlaneVector point = SteeringPlane::centre(cell);
    Index steps = 0;
    while (!SteeringPlane::is_goal(point)) {
      point = SteeringPlane::after(point, {-4 * point.x, -4 * point.y});
      ++steps;
    }
    EXPECT_EQ(SteeringPlane::fewest_steps(SteeringPlane::centre(cell)), steps) << cell;
  }
}

TEST(SteeringPlane, WalksFollowTheirActionsAndReturns) {
  const Index count = 300, steps = 9;
  const Batch batch = steered_walks(3, 0, count, steps);
  Index reached_count = 0;
  for (Index b = 0; b < count; ++b) {
    Index goal_step = steps + 1;  // the return is -0.1 per step until the goal
    for (Index t = 0; t < steps; ++t) {
      const PlaneVector point = vector_at(batch.states, b, t);
      const bool at_goal = SteeringPlane::is_goal(point);
      if (at_goal) goal_step = std::min(goal_step, t);
      EXPECT_LE(length(vector_at(batch.moves, b, t)), 1.0f + 1e-6f);
      EXPECT_EQ(batch.targets(b, t), at_goal ? -1 : 0);
      const PlaneVector next =
          at_goal ? point : SteeringPlane::after(point, vector_at(batch.moves, b, t));
      if (t + 1 < steps) {
        EXPECT_EQ(vector_at(batch.states, b, t + 1), next);
      } else if (SteeringPlane::is_goal(next)) {
        goal_step = std::min(goal_step, steps);
      }
    }
    if (goal_step <= steps) ++reached_count;
    for (Index t = 0; t < steps; ++t) {
      EXPECT_NEAR(batch.returns(b, t),
                  -0.1 * static_cast<double>(std::max<Index>(goal_step - t, 0)), 1e-6);
    }
  }
  EXPECT_TRUE(reached_count > count / 5 && reached_count < count) << reached_count;
}

TEST(SteeringPlane, UnfinishedWalksLackTheirLastAction) {
  const Batch batch = unfinished_steering({{{1, 0}, {0.75f, 0}}}, {{{-1, 0}}}, {5});
  EXPECT_EQ(vector_at(batch.moves, 0, 0), (PlaneVector{-1, 0}));
  EXPECT_TRUE(std::isnan(batch.moves(0, 1, 0)) && std::isnan(batch.moves(0, 1, 1)));
  EXPECT_NEAR(batch.returns(0, 0), -0.5, 1e-6);
  EXPECT_NEAR(batch.returns(0, 1), -0.4, 1e-6);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
