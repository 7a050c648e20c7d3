// Random walks on a grid with returns to go: for a high desired return, the model should find the
// shortest path, although hardly any training walk is a shortest path.
#include <algorithm>

#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/training/acting.h"
#include "core/training/tally.h"
#include "core/training/task.h"

namespace attnscope {
namespace {

constexpr std::uint64_t kWalksHeldOut = 0x77616c6b73;  // differs from training seeds

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
    score.accuracy = fewest_steps_share(checkpoint.model, steps_);
    return score;
  }

 private:
  std::uint64_t seed_;
  Index steps_, sample_size_;
};

void check_trajectory(const TrainingPlan& plan) {
  check_walks(plan, "grid walks", Grid::kStateSize, Grid::kActions);
}

}  // namespace

TaskInfo trajectory_task() {
  return {.id = "trajectory",
          .label = "Shortest path",
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
