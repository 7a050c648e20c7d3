// A decision transformer let loose on its grid.
#include "core/experiment/rollouts.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/experiment/chosen.h"
#include "core/experiment/finding.h"
#include "core/experiment/runner.h"
#include "core/model/architecture.h"
#include "core/model/sample.h"

namespace attnscope {

namespace {

// Why this model does not act on the grid; empty: it does.
// Longer ways are not walked from everywhere: their attention would not fit into memory.
constexpr Index kMostRolledOut = 64;

std::string rollout_refusal(const ModelConfig& config) {
  const Values& values = config.architecture.values;
  const bool grid = values.integer("state_size") == Grid::kStateSize &&
                    values.integer("actions") == Grid::kActions;
  if (grid && values.integer("most_steps") > kMostRolledOut) {
    return "ways of up to " + std::to_string(values.integer("most_steps")) +
           " steps are too long to be walked from every cell: at most " +
           std::to_string(kMostRolledOut) + " can be";
  }
  if (grid) return "";
  return "the model acts in another world than the grid of " + std::to_string(Grid::kSide) +
         " by " + std::to_string(Grid::kSide) + " cells: expected states of " +
         std::to_string(Grid::kStateSize) + " numbers and " + std::to_string(Grid::kActions) +
         " actions, found " + std::to_string(values.integer("state_size")) + " and " +
         std::to_string(values.integer("actions"));
}

// The attention of the walk as it stood before its last action.  [layers][heads, L, L]
std::vector<Tensor> attention_of(const Model& model, const Rollout& walk, const Stop& stop) {
  std::vector<Index> cells(walk.cells.begin(), walk.cells.end() - 1);
  std::vector<Index> actions(walk.actions.begin(), walk.actions.end() - 1);
  Trace trace;
  ForwardOptions options;
  options.stop = stop;
  options.trace = &trace;
  run(model, open_walks({cells}, {actions}, {walk.asked}), options);
  std::vector<Tensor> layers;
  const TracePart part = trace.part({});
  for (Index layer = 0; layer < trace.layer_count(part); ++layer) {
    const Index heads = trace.head_count(part, layer);
    Tensor all;
    for (Index head = 0; head < heads; ++head) {
      Index in_group = 0;
      const Tensor weights = trace.find({layer, head, part}, &in_group)->attention(in_group);
      if (!all.defined()) all = Tensor({heads, weights.dim(0), weights.dim(1)});
      std::ranges::copy(weights, all.data() + head * weights.size());
    }
    layers.push_back(all);
  }
  return layers;
}

// Those that still walk take a step more.
void step(const Model& model, std::vector<Rollout*>& walking, const Stop& stop) {
  std::vector<std::vector<Index>> cells, actions;
  std::vector<Index> asked;
  for (const Rollout* walk : walking) {
    cells.push_back(walk->cells);
    actions.push_back(walk->actions);
    asked.push_back(walk->asked);
  }
  ForwardOptions options;
  options.stop = stop;
  const Tensor logits = run(model, open_walks(cells, actions, asked), options).logits.value();
  const Index steps = logits.dim(1);  // logits: [B, T, actions]
  for (std::size_t b = 0; b < walking.size(); ++b) {
    Rollout& walk = *walking[b];
    const float* last =
        logits.data() + (static_cast<Index>(b) * steps + steps - 1) * Grid::kActions;
    Tensor row({Grid::kActions});
    std::copy_n(last, Grid::kActions, row.begin());
    const std::vector<double> chances = probabilities(row, {});
    for (Index a = 0; a < Grid::kActions; ++a) {
      walk.chances(steps - 1, a) = static_cast<float>(chances[static_cast<std::size_t>(a)]);
    }
    const Index action = std::max_element(last, last + Grid::kActions) - last;
    walk.actions.push_back(action);
    walk.cells.push_back(Grid::after(walk.cells.back(), action));
    walk.reached = walk.cells.back() == Grid::kGoal;
  }
  std::erase_if(walking, [](const Rollout* walk) { return walk->reached; });
}

Rollouts let_loose(const Model& model, const FindingProgress& progress, const Stop& stop) {
  Rollouts rollouts;
  rollouts.problem = rollout_refusal(model.config);
  if (!rollouts.problem.empty()) return rollouts;
  const Index most = model.config.architecture.values.integer("most_steps");
  rollouts.most_steps = most;
  for (Index start = 0; start < Grid::kCells; ++start) {
    if (start == Grid::kGoal) continue;
    for (Index asked = 1; asked <= most; ++asked) {
      Rollout walk;
      walk.start = start;
      walk.asked = asked;
      walk.cells = {start};
      walk.chances = Tensor::zeros({most, Grid::kActions});
      rollouts.all.push_back(std::move(walk));
    }
  }
  std::vector<Rollout*> walking;
  for (Rollout& walk : rollouts.all) walking.push_back(&walk);
  const std::size_t parts = static_cast<std::size_t>(most) + rollouts.all.size();
  for (Index t = 0; t < most && !walking.empty(); ++t) {
    step(model, walking, stop);
    if (progress) progress(static_cast<std::size_t>(t), parts);
  }
  std::size_t done = static_cast<std::size_t>(most);
  for (Rollout& walk : rollouts.all) {
    walk.chances = walk.chances.slice(0, walk.steps());
    walk.attention = attention_of(model, walk, stop);
    if (progress) progress(++done, parts);
  }
  return rollouts;
}

Rollouts rollouts_of(const Experiment& experiment, const FindingProgress& progress,
                     const Stop& stop) {
  const std::shared_ptr<const Checkpoint> checkpoint = model_store()->checkpoint(experiment.model);
  const Model model = chosen_model(checkpoint->model, experiment);
  if (architecture(model.config.architecture.id).reads != Reads::Trajectories) {
    Rollouts none;  // another model than the shown run's
    none.problem = "the chosen model does not act";
    return none;
  }
  try {
    if (!experiment.interventions.empty()) {
      throw InputError(
          "a model that a person intervenes in is not let loose: take back the "
          "interventions, or look at its maps");
    }
    return let_loose(model, progress, stop);
  } catch (const InputError& e) {
    Rollouts none;
    none.problem = e.what();
    return none;
  }
}

// Whatever walk is read: the same model, let loose.
bool same_model(const Experiment& before, const Experiment& now) {
  Experiment other = before;
  other.others = now.others;
  other.input = now.input;
  return same_run(other, now);
}

}  // namespace

const Rollout* Rollouts::find(Index start, Index asked) const {
  const auto found = std::ranges::find_if(
      all, [&](const Rollout& r) { return r.start == start && r.asked == asked; });
  return found == all.end() ? nullptr : &*found;
}

double Rollouts::mean_achieved(Index asked) const {
  double sum = 0, count = 0;
  for (const Rollout& walk : all) {
    if (walk.asked != asked) continue;
    sum += walk.achieved();
    ++count;
  }
  return sum / count;
}

Rollouts::Share Rollouts::kept_their_word(Index asked) const {
  Share share;
  for (const Rollout& walk : all) {
    if (walk.asked != asked || Grid::distance(walk.start) > asked) continue;
    ++share.of;
    if (walk.reached && walk.steps() <= asked) ++share.reached;
  }
  return share;
}

Rollouts::Share Rollouts::shortest() const {
  Share share;
  for (const Rollout& walk : all) {
    if (walk.asked != Grid::distance(walk.start)) continue;
    ++share.of;
    if (walk.reached && walk.steps() == walk.asked) ++share.reached;
  }
  return share;
}

Finding rollouts_finding() {
  return {.id = Findings::rollouts.id,
          .summary = "Where the model goes from every cell, asked for every return.",
          .exists =
              [](const Experiment& e) {
                return e.view.id == "trajectory" && e.tensors.file.empty() && !e.input.empty();
              },
          .holds = same_model,
          .beside_runs =
              [](const Experiment& experiment, ExperimentRun&, const FindingProgress& progress,
                 const Stop& stop, Findings& results) {
                results.set(Findings::rollouts, std::make_shared<const Rollouts>(
                                                    rollouts_of(experiment, progress, stop)));
              }};
}

}  // namespace attnscope
