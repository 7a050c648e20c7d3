#include "core/training/returns.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

std::vector<Walk> feasible_walks(const ModelConfig& config, Index max_steps) {
  std::vector<Walk> walks;
  for (Index requested = 1; requested <= max_steps; ++requested) {
    for (Index start = 0; start < Grid::kCells; ++start) {
      Walk walk = walk_from(config, start, requested);
      if (start == Grid::kGoal || walk.fewest_steps() > requested) continue;
      walks.push_back(std::move(walk));
    }
  }
  return walks;
}

std::string world_name(World world) {
  return world == World::Grid ? "the grid" : "the plane";
}

}  // namespace

ReturnCurve achieved_returns(const Checkpoint& checkpoint, Index context) {
  const ModelConfig& config = checkpoint.model.config;
  if (const std::string refusal = world_refusal(config); !refusal.empty()) {
    throw InputError(checkpoint.name + ": " + refusal);
  }
  const Index max_steps = config.architecture.values.integer("most_steps");
  std::vector<Walk> walks = feasible_walks(config, max_steps);
  std::vector<Walk*> unfinished;
  for (Walk& walk : walks) unfinished.push_back(&walk);
  for (Index t = 0; t < max_steps && !unfinished.empty(); ++t) {
    check_stop();
    take_step(checkpoint.model, unfinished, context);
    std::erase_if(unfinished, [](const Walk* walk) { return walk->reached; });
  }
  ReturnCurve curve{.model = checkpoint.name,
                    .context = context,
                    .conditioned = config.architecture.values.flag("returns"),
                    .achieved = std::vector<double>(static_cast<std::size_t>(max_steps)),
                    .within = std::vector<double>(static_cast<std::size_t>(max_steps)),
                    .world = world_of(config)};
  std::vector<double> counts(static_cast<std::size_t>(max_steps));
  for (const Walk& walk : walks) {
    const auto n = static_cast<std::size_t>(walk.target_steps - 1);
    counts[n] += 1;
    curve.achieved[n] += walk.achieved();
    curve.within[n] += walk.reached && walk.steps() <= walk.target_steps ? 1 : 0;
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
    if (curve.world != result.curves.front().world) {
      throw InputError(curve.model + ": expected a model of the same environment as " +
                       result.curves.front().model + ", found one of " + world_name(curve.world));
    }
    const auto steps = static_cast<Index>(curve.achieved.size());
    result.max_steps = result.max_steps == 0 ? steps : std::min(result.max_steps, steps);
  }
  return result;
}

}  // namespace attnscope
