// Finding "rollouts": rollouts of a decision transformer in its environment.
#include "core/experiment/rollouts.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/finding.h"
#include "core/experiment/run.h"
#include "core/model/architecture.h"
#include "core/model/sample.h"

namespace attnscope {
namespace {

// Maximum number of steps. The attention of longer rollouts would not fit into memory.
constexpr Index kMaxSteps = 64;

// Reason why there are no rollouts of this model; empty if there are.
std::string rollout_refusal(const ModelConfig& config) {
  const std::string refusal = world_refusal(config);
  if (!refusal.empty()) return refusal;
  const Index max_steps = config.architecture.values.integer("most_steps");
  if (max_steps <= kMaxSteps) return "";
  return "paths of up to " + std::to_string(max_steps) + " steps: expected at most " +
         std::to_string(kMaxSteps) + " for rollouts from every cell";
}

// Attention of the model when it chooses the last action of a rollout.  [layers][heads, L, L]
std::vector<Tensor> final_attention(const Model& model, const Rollout& walk) {
  Walk before = walk;  // the last action is not taken yet
  if (walk.world == World::Grid) {
    before.cells.pop_back();
    before.actions.pop_back();
  } else {
    before.points.pop_back();
    before.moves.pop_back();
  }
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  run(model, visible_steps({&before}, 0), options);
  std::vector<Tensor> layers;
  const TracePart part = trace.part({});
  for (Index layer = 0; layer < trace.layer_count(part); ++layer) {
    const Index heads = trace.head_count(part, layer);
    Tensor maps;
    for (Index head = 0; head < heads; ++head) {
      Index in_group = 0;
      const Tensor weights = trace.find({layer, head, part}, &in_group)->attention(in_group);
      if (!maps.defined()) maps = Tensor({heads, weights.dim(0), weights.dim(1)});
      std::ranges::copy(weights, maps.data() + head * weights.size());
    }
    layers.push_back(maps);
  }
  return layers;
}

// Advances the unfinished rollouts by one step.
void step(const Model& model, std::vector<Rollout*>& unfinished) {
  const Tensor outputs = take_step(model, {unfinished.begin(), unfinished.end()}, 0);
  for (std::size_t b = 0; b < unfinished.size(); ++b) {
    Rollout& walk = *unfinished[b];
    if (walk.world != World::Grid) continue;
    const std::vector<double> p =
        probabilities(outputs.slice(static_cast<Index>(b), 1).reshaped({Grid::kActions}), {});
    for (Index a = 0; a < Grid::kActions; ++a) {
      walk.probabilities(walk.steps() - 1, a) = static_cast<float>(p[static_cast<std::size_t>(a)]);
    }
  }
  std::erase_if(unfinished, [](const Rollout* walk) { return walk->reached; });
}

Rollouts roll_out(const Model& model, const FindingProgress& progress) {
  Rollouts rollouts;
  rollouts.problem = rollout_refusal(model.config);
  if (!rollouts.problem.empty()) return rollouts;
  const Index max_steps = model.config.architecture.values.integer("most_steps");
  rollouts.world = world_of(model.config);
  rollouts.max_steps = max_steps;
  for (Index start = 0; start < Grid::kCells; ++start) {
    if (start == Grid::kGoal) continue;
    for (Index target_steps = 1; target_steps <= max_steps; ++target_steps) {
      Rollout walk;
      static_cast<Walk&>(walk) = walk_from(model.config, start, target_steps);
      walk.probabilities = Tensor::zeros({max_steps, Grid::kActions});
      rollouts.all.push_back(std::move(walk));
    }
  }
  std::vector<Rollout*> unfinished;
  for (Rollout& walk : rollouts.all) unfinished.push_back(&walk);
  const std::size_t total = static_cast<std::size_t>(max_steps) + rollouts.all.size();
  for (Index t = 0; t < max_steps && !unfinished.empty(); ++t) {
    step(model, unfinished);
    if (progress) progress(static_cast<std::size_t>(t), total);
  }
  std::size_t done = static_cast<std::size_t>(max_steps);
  for (Rollout& walk : rollouts.all) {
    walk.probabilities = walk.probabilities.slice(0, walk.steps());
    walk.attention = final_attention(model, walk);
    if (progress) progress(++done, total);
  }
  return rollouts;
}

Rollouts compute_rollouts(const RunSpec& spec, const FindingProgress& progress) {
  const std::shared_ptr<const Checkpoint> checkpoint = model_store()->checkpoint(spec.model);
  const Model model = effective_model(checkpoint->model, spec);
  if (architecture(model.config.architecture.id).reads != Reads::Trajectories) {
    Rollouts failure;  // the selected model may differ from the shown run's model
    failure.problem = "the selected model predicts no actions";
    return failure;
  }
  try {
    if (!spec.interventions.empty()) {
      throw InputError(
          "rollouts are not available with interventions; remove the "
          "interventions, or select a map");
    }
    return roll_out(model, progress);
  } catch (const InputError& e) {
    Rollouts failure;
    failure.problem = e.what();
    return failure;
  }
}

// True if the runs differ at most in the input trajectory, on which rollouts do not depend.
bool has_same_rollouts(const RunSpec& previous, const RunSpec& current) {
  RunSpec adapted = previous;
  adapted.input = current.input;
  return adapted == current;
}

}  // namespace

const Rollout* Rollouts::find(Index start, Index target_steps) const {
  const auto match = std::ranges::find_if(
      all, [&](const Rollout& r) { return r.start == start && r.target_steps == target_steps; });
  return match == all.end() ? nullptr : &*match;
}

double Rollouts::mean_achieved(Index target_steps) const {
  double sum = 0, count = 0;
  for (const Rollout& walk : all) {
    if (walk.target_steps != target_steps) continue;
    sum += walk.achieved();
    ++count;
  }
  return sum / count;
}

Rollouts::Share Rollouts::within_target(Index target_steps) const {
  Share share;
  for (const Rollout& walk : all) {
    if (walk.target_steps != target_steps || walk.fewest_steps() > target_steps) continue;
    ++share.of;
    if (walk.reached && walk.steps() <= target_steps) ++share.reached;
  }
  return share;
}

Rollouts::Share Rollouts::shortest() const {
  Share share;
  for (const Rollout& walk : all) {
    if (walk.target_steps != walk.fewest_steps()) continue;
    ++share.of;
    if (walk.reached && walk.steps() == walk.target_steps) ++share.reached;
  }
  return share;
}

Finding rollouts_finding() {
  return {.id = Findings::rollouts.id,
          .summary = "Rollouts of the model from every cell, for every target return.",
          .exists =
              [](const Session& session) {
                return session.run.tensors.file.empty() && !session.run.input.empty();
              },
          .is_reusable = has_same_rollouts,
          .in_background =
              [](const RunSpec& spec, const FindingSettings&, ExperimentRun&,
                 const FindingProgress& progress, Findings& results) {
                results.set(Findings::rollouts,
                            std::make_shared<const Rollouts>(compute_rollouts(spec, progress)));
              }};
}

}  // namespace attnscope
