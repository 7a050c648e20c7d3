#include "core/training/returns.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/model/architecture.h"
#include "core/training/walks.h"

namespace attnscope {
namespace {

struct GridWalk {
  std::vector<Index> cells, actions;  // visited cells, the start first; actions
  Index requested = 0;                // steps
  bool reached() const { return cells.back() == Grid::kGoal; }
};

// The last `context` steps of unfinished walks of equal length; 0: all steps.
Batch visible_steps(const std::vector<GridWalk*>& walks, Index context) {
  std::vector<std::vector<Index>> cells, actions;
  std::vector<Index> remaining;
  for (const GridWalk* walk : walks) {
    const auto length = static_cast<Index>(walk->cells.size());
    const Index first = context > 0 ? std::max<Index>(0, length - context) : 0;
    cells.emplace_back(walk->cells.begin() + first, walk->cells.end());
    actions.emplace_back(walk->actions.begin() + first, walk->actions.end());
    remaining.push_back(walk->requested - first);
  }
  return unfinished_walks(cells, actions, remaining);
}

// Takes the most likely action in each unfinished walk.
void step(const Model& model, const std::vector<GridWalk*>& walks, Index context) {
  ForwardOptions options;
  const Tensor logits = run(model, visible_steps(walks, context), options).logits.value();
  for (std::size_t b = 0; b < walks.size(); ++b) {
    const float* last =
        logits.data() + ((static_cast<Index>(b) + 1) * logits.dim(1) - 1) * Grid::kActions;
    const Index action = std::max_element(last, last + Grid::kActions) - last;
    walks[b]->actions.push_back(action);
    walks[b]->cells.push_back(Grid::after(walks[b]->cells.back(), action));
  }
}

std::vector<GridWalk> feasible_walks(Index max_steps) {
  std::vector<GridWalk> walks;
  for (Index requested = 1; requested <= max_steps; ++requested) {
    for (Index start = 0; start < Grid::kCells; ++start) {
      if (start == Grid::kGoal || Grid::distance(start) > requested) continue;
      walks.push_back({{start}, {}, requested});
    }
  }
  return walks;
}

}  // namespace

std::string grid_refusal(const ModelConfig& config) {
  if (architecture(config.architecture.id).reads != Reads::Trajectories) {
    return "expected a model of trajectories, found " + config.architecture.id;
  }
  const Values& values = config.architecture.values;
  const Index states = values.integer("state_size"), actions = values.integer("actions");
  if (states == Grid::kStateSize && actions == Grid::kActions) return "";
  return "the model acts in another environment than the grid of " + std::to_string(Grid::kSide) +
         " by " + std::to_string(Grid::kSide) + " cells: expected states of " +
         std::to_string(Grid::kStateSize) + " numbers and " + std::to_string(Grid::kActions) +
         " actions, found " + std::to_string(states) + " and " + std::to_string(actions);
}

ReturnCurve achieved_returns(const Checkpoint& checkpoint, Index context) {
  const ModelConfig& config = checkpoint.model.config;
  if (const std::string refusal = grid_refusal(config); !refusal.empty()) {
    throw InputError(checkpoint.name + ": " + refusal);
  }
  const Index max_steps = config.architecture.values.integer("most_steps");
  std::vector<GridWalk> walks = feasible_walks(max_steps);
  std::vector<GridWalk*> unfinished;
  for (GridWalk& walk : walks) unfinished.push_back(&walk);
  for (Index t = 0; t < max_steps && !unfinished.empty(); ++t) {
    check_stop();
    step(checkpoint.model, unfinished, context);
    std::erase_if(unfinished, [](const GridWalk* walk) { return walk->reached(); });
  }
  ReturnCurve curve{.model = checkpoint.name,
                    .context = context,
                    .conditioned = config.architecture.values.flag("returns"),
                    .achieved = std::vector<double>(static_cast<std::size_t>(max_steps)),
                    .within = std::vector<double>(static_cast<std::size_t>(max_steps))};
  std::vector<double> counts(static_cast<std::size_t>(max_steps));
  for (const GridWalk& walk : walks) {
    const auto n = static_cast<std::size_t>(walk.requested - 1);
    const Index steps = walk.reached() ? static_cast<Index>(walk.actions.size()) : max_steps + 1;
    counts[n] += 1;
    curve.achieved[n] += static_cast<double>(Grid::return_to_go(steps));
    curve.within[n] += steps <= walk.requested ? 1 : 0;
  }
  for (std::size_t n = 0; n < counts.size(); ++n) {
    curve.achieved[n] /= counts[n];
    curve.within[n] /= counts[n];
  }
  return curve;
}

ReturnCurves return_curves(const std::vector<std::shared_ptr<const Checkpoint>>& models) {
  ReturnCurves result;
  for (const auto& checkpoint : models) {
    result.curves.push_back(achieved_returns(*checkpoint, 0));
    if (result.curves.back().conditioned) {
      result.curves.push_back(achieved_returns(*checkpoint, 1));
    }
  }
  for (const ReturnCurve& curve : result.curves) {
    const auto steps = static_cast<Index>(curve.achieved.size());
    result.max_steps = result.max_steps == 0 ? steps : std::min(result.max_steps, steps);
  }
  return result;
}

}  // namespace attnscope
