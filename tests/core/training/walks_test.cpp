#include "core/training/walks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace ATTNSCOPE_FILE {

Index decode_cell(const Batch& batch, Index b, Index t) {
  const auto coordinate = [&](Index axis) {
    return std::lround((batch.states(b, t, axis) + 1) * static_cast<float>(Grid::kSide / 2));
  };
  return coordinate(0) * Grid::kSide + coordinate(1);
}

TEST(Walks, FollowTheGridAndItsReturns) {
  const Index count = 300, steps = 9;
  const Batch batch = random_walks(3, 0, count, steps);
  Index reached_count = 0;
  for (Index b = 0; b < count; ++b) {
    Index goal_step = steps + 1;  // the return is -0.1 per step until the goal
    for (Index t = 0; t < steps; ++t) {
      const Index cell = decode_cell(batch, b, t), action = batch.actions(b, t);
      if (cell == Grid::kGoal) goal_step = std::min(goal_step, t);
      const Index next = cell == Grid::kGoal ? cell : Grid::after(cell, action);
      if (t + 1 < steps) {
        EXPECT_EQ(decode_cell(batch, b, t + 1), next);
      } else if (next == Grid::kGoal) {
        goal_step = std::min(goal_step, steps);
      }
      EXPECT_EQ(batch.targets(b, t), cell == Grid::kGoal ? -1 : action);
    }
    if (goal_step <= steps) ++reached_count;
    for (Index t = 0; t < steps; ++t) {
      EXPECT_NEAR(batch.returns(b, t),
                  -0.1 * static_cast<double>(std::max<Index>(goal_step - t, 0)), 1e-6);
    }
  }
  EXPECT_TRUE(reached_count > count / 5 && reached_count < count) << reached_count;
}

TEST(Walks, StayWithinTheBorder) {
  EXPECT_EQ(Grid::after(0, 0), 0);            // up
  EXPECT_EQ(Grid::after(0, 1), 1);            // right
  EXPECT_EQ(Grid::after(0, 2), Grid::kSide);  // down
  EXPECT_EQ(Grid::after(0, 3), 0);            // left
  EXPECT_EQ(Grid::after(Grid::kCells - 1, 1), Grid::kCells - 1);
  EXPECT_EQ(Grid::distance(Grid::kGoal), 0);
  EXPECT_EQ(Grid::distance(0), 4);
}

TEST(Walks, EncodeTheDesiredReturn) {
  const Batch batch = unfinished_walks({{0, 1, 2}, {5, 5, 6}}, {{1, 1}, {3, 1}}, {3, 1});
  const Index remaining_steps[] = {3, 2, 1, 1, 0, 0};
  for (Index n = 0; n < 6; ++n) EXPECT_EQ(batch.returns[n], Grid::return_to_go(remaining_steps[n]));
  EXPECT_EQ(std::vector<std::int32_t>(batch.actions.begin(), batch.actions.end()),
            (std::vector<std::int32_t>{1, 1, -1, 3, 1, -1}));
  EXPECT_EQ(decode_cell(batch, 1, 2), 6);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
