// Random walks on a grid with returns to go: for a high desired return, the model should find the
// shortest path, although hardly any training walk is a shortest path.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/training/tally.h"
#include "core/training/task.h"
#include "core/training/walks.h"

namespace attnscope {
namespace {

constexpr std::uint64_t kWalksHeldOut = 0x77616c6b73;  // differs from training seeds
constexpr Index kTokensPerStep = 3;

// Fraction of cells from which the most likely actions, conditioned on the highest return, reach
// the goal in the fewest steps.
double shortest_path_fraction(const Model& model, Index max_steps) {
  double cells = 0, reached = 0;
  for (Index distance = 1; distance <= Grid::kSide / 2 * 2; ++distance) {
    if (distance > max_steps) break;
    std::vector<std::vector<Index>> walks, actions;
    for (Index cell = 0; cell < Grid::kCells; ++cell) {
      if (Grid::distance(cell) == distance) walks.push_back({cell});
    }
    actions.resize(walks.size());
    const std::vector<Index> desired_steps(walks.size(), distance);
    for (Index t = 0; t < distance; ++t) {
      ForwardOptions options;
      const Tensor logits = run(model, unfinished_walks(walks, actions, desired_steps), options)
                                .logits.value();  // [B, T, actions]
      for (std::size_t b = 0; b < walks.size(); ++b) {
        const float* last =
            logits.data() + (static_cast<Index>(b) * logits.dim(1) + t) * Grid::kActions;
        const Index action = std::max_element(last, last + Grid::kActions) - last;
        actions[b].push_back(action);
        walks[b].push_back(Grid::after(walks[b].back(), action));
      }
    }
    for (const auto& walk : walks) {
      ++cells;
      if (walk.back() == Grid::kGoal) ++reached;
    }
  }
  return reached / cells;
}

class TrajectoryTask final : public Task {
 public:
  explicit TrajectoryTask(const TrainingPlan& plan)
      : seed_(plan.seed),
        steps_(plan.model.architecture.values.integer("most_steps")),
        sample_size_(plan.score_batches * plan.batch) {}

  Batch batch(std::uint64_t number, Index count) override {
    return random_walks(seed_, number, count, steps_);
  }

  Score score(const Checkpoint& checkpoint, bool) const override {
    constexpr Index kBatch = 16;
    Tally tally;
    for (Index first = 0; first < sample_size_; first += kBatch) {
      Batch batch =
          random_walks(derived_seed(seed_, kWalksHeldOut), static_cast<std::uint64_t>(first),
                       std::min(kBatch, sample_size_ - first), steps_);
      const IntTensor targets = batch.targets;
      batch.targets = IntTensor();
      ForwardOptions options;
      tally.add(run(checkpoint.model, batch, options).logits.value(), targets);
      check_stop();
    }
    Score score = tally.score();
    score.accuracy = shortest_path_fraction(checkpoint.model, steps_);
    return score;
  }

 private:
  std::uint64_t seed_;
  Index steps_, sample_size_;
};

Index walk_tokens(const TrainingPlan& plan) {
  return kTokensPerStep * plan.model.architecture.values.integer("most_steps");
}

void check_trajectory(const TrainingPlan& plan) {
  if (!plan.text.empty() || !plan.held_out.empty() || plan.held_out_share > 0) {
    throw InputError("text: expected no files, since the task \"trajectory\" generates its walks");
  }
  const Values& values = plan.model.architecture.values;
  const auto expect = [&](const char* key, Index expected) {
    if (values.integer(key) == expected) return;
    throw InputError("model.architecture." + std::string(key) + ": expected " +
                     std::to_string(expected) + " for grid walks, found " +
                     std::to_string(values.integer(key)));
  };
  expect("state_size", Grid::kStateSize);
  expect("actions", Grid::kActions);
  if (plan.model.context < walk_tokens(plan)) {
    throw InputError("model.context: expected at least the " + std::to_string(walk_tokens(plan)) +
                     " tokens of most_steps steps, found " + std::to_string(plan.model.context));
  }
}

}  // namespace

TaskInfo trajectory_task() {
  return {.id = "trajectory",
          .summary = "random walks on a grid, with returns to go",
          .reads = Reads::Trajectories,
          .files = "",
          .length = walk_tokens,
          .check = check_trajectory,
          .make = [](const TrainingPlan& plan) -> std::unique_ptr<Task> {
            return std::make_unique<TrajectoryTask>(plan);
          }};
}

}  // namespace attnscope
