// Steered walks in the plane with returns to go: for a high desired return, the model should take
// the straight path at full pace, although the training walks are of mixed quality.
#include <algorithm>

#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/training/acting.h"
#include "core/training/task.h"

namespace attnscope {
namespace {

constexpr std::uint64_t kSteeringHeldOut = 0x737465657273;  // differs from training seeds

// Sum of the squared errors of all components of actions with a target, and their number.
struct SquaredErrors {
  double sum = 0;
  Index count = 0;

  void add(const Tensor& predictions, const Batch& batch) {
    const Index size = predictions.dim(2);
    for (Index n = 0; n < predictions.size(); ++n) {
      if (batch.targets[n / size] < 0) continue;
      const auto error = static_cast<double>(predictions[n] - batch.moves[n]);
      sum += error * error;
      ++count;
    }
  }
  double mean() const { return sum / static_cast<double>(count); }
};

class SteeringTask final : public Task {
 public:
  explicit SteeringTask(const TrainingPlan& plan)
      : seed_(plan.seed),
        steps_(plan.model.architecture.values.integer("most_steps")),
        sample_size_(plan.score_batches * plan.batch) {}

  Batch batch(std::uint64_t number, Index count) override {
    return steered_walks(seed_, number, count, steps_);
  }

  // The loss is the mean squared error.
  Score score(const Checkpoint& checkpoint, bool) const override {
    constexpr Index kBatch = 16;
    SquaredErrors errors;
    for (Index first = 0; first < sample_size_; first += kBatch) {
      Batch batch =
          steered_walks(derived_seed(seed_, kSteeringHeldOut), static_cast<std::uint64_t>(first),
                        std::min(kBatch, sample_size_ - first), steps_);
      ForwardOptions options;
      errors.add(run(checkpoint.model, batch, options).logits.value(), batch);
      check_stop();
    }
    Score score;
    score.loss = errors.mean();
    score.accuracy = fewest_steps_share(checkpoint.model, steps_);
    return score;
  }

 private:
  std::uint64_t seed_;
  Index steps_, sample_size_;
};

void check_steering(const TrainingPlan& plan) {
  check_walks(plan, "walks in the plane", SteeringPlane::kStateSize, SteeringPlane::kActionSize);
}

}  // namespace

TaskInfo steering_task() {
  return {.id = "steering",
          .label = "Steering",
          .summary = "steered walks in the plane: continuous actions, with returns to go",
          .reads = Reads::Trajectories,
          .has_continuous_actions = true,
          .files = "",
          .length = walk_tokens,
          .check = check_steering,
          .make = [](const TrainingPlan& plan) -> std::unique_ptr<Task> {
            return std::make_unique<SteeringTask>(plan);
          }};
}

}  // namespace attnscope
