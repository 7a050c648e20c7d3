#include "core/training/acting.h"

#include <algorithm>

#include "core/base/stop.h"
#include "core/model/architecture.h"
#include "core/model/capability.h"

namespace attnscope {

std::string world_refusal(const ModelConfig& config) {
  if (architecture(config.architecture.id).reads != Reads::Trajectories) {
    return "expected a model of trajectories, found " + config.architecture.id;
  }
  const Values& values = config.architecture.values;
  const Index states = values.integer("state_size"), actions = values.integer("actions");
  const bool is_continuous = has_continuous_actions(config);
  const Index expected_states = is_continuous ? SteeringPlane::kStateSize : Grid::kStateSize;
  const Index expected_actions = is_continuous ? SteeringPlane::kActionSize : Grid::kActions;
  if (states == expected_states && actions == expected_actions) return "";
  const std::string found = std::to_string(states) + " and " + std::to_string(actions);
  if (is_continuous) {
    return "the model acts in another environment than the plane: expected states of " +
           std::to_string(SteeringPlane::kStateSize) + " numbers and actions of " +
           std::to_string(SteeringPlane::kActionSize) + ", found " + found;
  }
  return "the model acts in another environment than the grid of " + std::to_string(Grid::kSide) +
         " by " + std::to_string(Grid::kSide) + " cells: expected states of " +
         std::to_string(Grid::kStateSize) + " numbers and " + std::to_string(Grid::kActions) +
         " actions, found " + found;
}

World world_of(const ModelConfig& config) {
  return has_continuous_actions(config) ? World::Plane : World::Grid;
}

Walk walk_from(const ModelConfig& config, Index start, Index target_steps) {
  Walk walk;
  walk.world = world_of(config);
  walk.sparse_rewards = config.architecture.values.flag("sparse_rewards");
  walk.start = start;
  walk.target_steps = target_steps;
  if (walk.world == World::Grid) {
    walk.cells = {start};
  } else {
    walk.points = {SteeringPlane::centre(start)};
  }
  return walk;
}

Batch visible_steps(const std::vector<const Walk*>& walks, Index context) {
  const Index length = walks.front()->steps() + 1;
  const Index first = context > 0 ? std::max<Index>(0, length - context) : 0;
  std::vector<Index> remaining;
  for (const Walk* walk : walks) {
    remaining.push_back(walk->sparse_rewards ? walk->target_steps : walk->target_steps - first);
  }
  const auto tails = [&]<class T>(std::vector<T> Walk::*steps) {
    std::vector<std::vector<T>> result;
    for (const Walk* walk : walks) {
      result.emplace_back((walk->*steps).begin() + first, (walk->*steps).end());
    }
    return result;
  };
  if (walks.front()->world == World::Grid) {
    return unfinished_walks(tails(&Walk::cells), tails(&Walk::actions), remaining);
  }
  return unfinished_steering(tails(&Walk::points), tails(&Walk::moves), remaining);
}

Tensor take_step(const Model& model, const std::vector<Walk*>& walks, Index context) {
  ForwardOptions options;
  const Batch batch = visible_steps({walks.begin(), walks.end()}, context);
  const Tensor outputs = run(model, batch, options).logits.value();  // [B, T, vocabulary]
  const Index size = outputs.dim(2);
  Tensor last({static_cast<Index>(walks.size()), size});
  for (std::size_t b = 0; b < walks.size(); ++b) {
    Walk& walk = *walks[b];
    float* row = last.data() + static_cast<Index>(b) * size;
    std::copy_n(outputs.data() + ((static_cast<Index>(b) + 1) * outputs.dim(1) - 1) * size, size,
                row);
    if (walk.world == World::Grid) {
      const Index action = std::max_element(row, row + size) - row;
      walk.actions.push_back(action);
      walk.cells.push_back(Grid::after(walk.cells.back(), action));
      walk.reached = walk.cells.back() == Grid::kGoal;
    } else {
      walk.moves.push_back({row[0], row[1]});
      walk.points.push_back(SteeringPlane::after(walk.points.back(), walk.moves.back()));
      walk.reached = SteeringPlane::is_goal(walk.points.back());
    }
  }
  return last;
}

double fewest_steps_share(const Model& model, Index max_steps) {
  std::vector<Walk> walks;
  for (Index start = 0; start < Grid::kCells; ++start) {
    Walk walk = walk_from(model.config, start, 0);
    walk.target_steps = walk.fewest_steps();
    if (start != Grid::kGoal && walk.target_steps <= max_steps) walks.push_back(std::move(walk));
  }
  std::vector<Walk*> unfinished;
  for (Walk& walk : walks) unfinished.push_back(&walk);
  while (!unfinished.empty()) {
    check_stop();
    take_step(model, unfinished, 0);
    std::erase_if(unfinished, [](const Walk* walk) {
      return walk->reached || walk->steps() >= walk->target_steps;
    });
  }
  const auto reached = std::ranges::count_if(walks, &Walk::reached);
  return static_cast<double>(reached) / static_cast<double>(walks.size());
}

}  // namespace attnscope
