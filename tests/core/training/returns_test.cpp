#include "core/training/returns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/checkpoint/model_store.h"
#include "core/model/architecture.h"
#include "core/training/walks.h"
#include "tests/support/small_config.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Acts as the bundled model on one walk, with the whole past in every step.
double achieved(const Model& model, Index start, Index requested, Index max_steps) {
  std::vector<Index> cells{start}, actions;
  while (cells.back() != Grid::kGoal && static_cast<Index>(actions.size()) < max_steps) {
    ForwardOptions options;
    const Tensor logits =
        run(model, unfinished_walks({cells}, {actions}, {requested}), options).logits.value();
    const float* last = logits.data() + logits.size() - Grid::kActions;
    actions.push_back(std::max_element(last, last + Grid::kActions) - last);
    cells.push_back(Grid::after(cells.back(), actions.back()));
  }
  const Index steps =
      cells.back() == Grid::kGoal ? static_cast<Index>(actions.size()) : max_steps + 1;
  return static_cast<double>(Grid::return_to_go(steps));
}

TEST(Returns, AreThoseOfSingleWalks) {
  const auto paths = model_store()->checkpoint("paths");
  const ReturnCurve curve = achieved_returns(*paths, 0);
  ASSERT_EQ(curve.achieved.size(), 12u);
  for (const Index requested : {2, 7}) {
    double sum = 0, count = 0;
    for (Index start = 0; start < Grid::kCells; ++start) {
      if (start == Grid::kGoal || Grid::distance(start) > requested) continue;
      sum += achieved(paths->model, start, requested, 12);
      ++count;
    }
    const double got = curve.achieved[static_cast<std::size_t>(requested - 1)];
    EXPECT_TRUE(std::abs(got - sum / count) <= 1e-9) << requested << " " << got;
  }
  EXPECT_EQ(curve.achieved[0], -static_cast<double>(Grid::kCost));  // one step from the goal
  EXPECT_EQ(curve.within[3], 1);  // every cell is at most 4 steps away
}

Checkpoint trajectory_model(bool sees_returns) {
  ModelConfig config = testing::small_config({.vocabulary = 4, .context = 18, .encoding = "none"});
  config.architecture = {"trajectory", default_values(architecture("trajectory").parameters)};
  config.architecture.values.set("state_size", Index{2});
  config.architecture.values.set("actions", Index{4});
  config.architecture.values.set("most_steps", Index{6});
  config.architecture.values.set("returns", sees_returns);
  config.tied_output = false;
  Checkpoint checkpoint;
  checkpoint.name = "small";
  checkpoint.model = make_model(config, 1);
  return checkpoint;
}

TEST(Returns, BehaviourCloningIgnoresTheRequest) {
  const Batch short_request = unfinished_walks({{0, 1}}, {{1}}, {2}),
              long_request = unfinished_walks({{0, 1}}, {{1}}, {6});
  for (const bool sees_returns : {true, false}) {
    const Checkpoint checkpoint = trajectory_model(sees_returns);
    ForwardOptions options;
    const Tensor a = run(checkpoint.model, short_request, options).logits.value(),
                 b = run(checkpoint.model, long_request, options).logits.value();
    const bool is_equal = std::ranges::equal(a, b);
    EXPECT_EQ(is_equal, !sees_returns);
    EXPECT_EQ(achieved_returns(checkpoint, 0).conditioned, sees_returns);
  }
}

// With sparse rewards the first return to go counts in all steps: a model's request stays the same.
TEST(Returns, StayTheSameWithSparseRewards) {
  Checkpoint checkpoint = trajectory_model(true);
  Batch remaining = unfinished_walks({{0, 1, 2}}, {{1, 1}}, {6});
  Batch constant = remaining;
  constant.returns = Tensor::full(constant.returns.shape(), remaining.returns[0]);
  const auto logits = [&](const Batch& batch) {
    return run(checkpoint.model, batch, ForwardOptions()).logits.value();
  };
  const Tensor expected = logits(constant);
  EXPECT_FALSE(std::ranges::equal(logits(remaining), expected));
  checkpoint.model.config.architecture.values.set("sparse_rewards", true);
  EXPECT_TRUE(std::ranges::equal(logits(remaining), expected));

  Walk walk = walk_from(checkpoint.model.config, 0, 6);
  for (int step = 0; step < 2; ++step) take_step(checkpoint.model, {&walk}, 0);
  EXPECT_EQ(walk.requested_return(2), walk.target_return());
  // Also with a context of one step, the visible request is the whole one.
  EXPECT_EQ(visible_steps({&walk}, 1).returns[0], Grid::return_to_go(6));
}

TEST(Returns, ContextOfOneStepIsANewWalk) {
  const Checkpoint checkpoint = trajectory_model(true);
  const ReturnCurve all = achieved_returns(checkpoint, 0), six = achieved_returns(checkpoint, 6);
  EXPECT_EQ(all.achieved, six.achieved);
  EXPECT_EQ(all.achieved[0], achieved_returns(checkpoint, 1).achieved[0]);
  Checkpoint other = checkpoint;
  other.model.config.architecture.values.set("actions", Index{3});
  EXPECT_THROW(achieved_returns(other, 0), InputError);
}

// A model of the plane is not compared with one of the grid.
TEST(Returns, MatchSingleWalksInThePlane) {
  const auto steering = model_store()->checkpoint("steering");
  const ReturnCurve curve = achieved_returns(*steering, 0);
  EXPECT_EQ(curve.world, World::Plane);
  double sum = 0, count = 0;
  for (Index start = 0; start < Grid::kCells; ++start) {
    Walk walk = walk_from(steering->model.config, start, 5);
    if (start == Grid::kGoal || walk.fewest_steps() > 5) continue;
    while (!walk.reached && walk.steps() < 12) take_step(steering->model, {&walk}, 0);
    sum += walk.achieved();
    ++count;
  }
  EXPECT_TRUE(std::abs(curve.achieved[4] - sum / count) <= 1e-9) << curve.achieved[4];
  EXPECT_TRUE(std::isnan(curve.achieved[0]));
  EXPECT_THROW(return_curves({steering, model_store()->checkpoint("paths")}), InputError);
  EXPECT_NE(to_table(return_curves({steering})).find("none"), std::string::npos);
}

TEST(Returns, AreDrawnAndListed) {
  ReturnCurves curves;
  curves.max_steps = 3;
  curves.curves.push_back({"paths", 0, true, {-0.1, -0.2, -0.3}, {1, 1, 1}});
  curves.curves.push_back({"paths", 1, true, {-0.1, -0.25, -0.4}, {1, 0.5, 0}});
  curves.curves.push_back({"cloned", 0, false, {-0.4, -0.4, -0.4}, {0, 0, 0}});
  EXPECT_TRUE(to_csv(curves).ends_with("cloned,all,false,-0.3,-0.4000,0.0000\n")) << to_csv(curves);
  EXPECT_TRUE(to_table(curves).find("paths, last step alone") != std::string::npos);
  const DisplayList list = returns_picture(curves, 860, 520, Theme::light(), file_text_measure());
  EXPECT_EQ(testing::layout_error(list), "");
  for (const char* text : {"as requested", "cloned, behaviour cloning", "paths, all steps"}) {
    EXPECT_TRUE(testing::shows_text(list, text)) << testing::all_text(list);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
