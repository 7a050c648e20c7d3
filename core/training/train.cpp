#include "core/training/train.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/weights.h"
#include "core/training/loss_log.h"
#include "core/training/optimiser.h"
#include "core/training/state.h"
#include "core/training/task.h"

namespace attnscope {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A training under way.
class Training {
 public:
  Training(const TrainingPlan& plan, const Stop& stop)
      : plan_(plan),
        stop_(stop),
        optimiser_({plan.beta1, plan.beta2, 1e-8, plan.weight_decay, plan.clip}),
        log_(plan.folder) {
    const std::optional<TrainingState> state = load_state(plan);
    checkpoint_.name = plan.folder.filename().string();
    task_ = task(plan.task).make(plan, stop);
    checkpoint_.tokenizer = task_->tokenizer();
    const ModelConfig config = task_->config(plan.model);
    checkpoint_.model = make_model(config, plan.seed);
    if (state) resume(*state);
    const std::set<std::string> constant = untrained_names(config);
    for (const auto& [name, weight] : checkpoint_.model.weights) {
      if (!constant.contains(name)) parameters_.emplace(name, Var::parameter(weight.value()));
    }
    tokens_per_step_ = plan.batch * sequence_length(plan);
  }

  TrainingResult run(const std::function<void(const TrainingProgress&)>& report) {
    const auto start = Clock::now();
    const Index first_step = step_;
    auto saved = start;
    TrainingProgress progress;
    progress.steps = plan_.steps;
    progress.loss = kNaN;
    double evaluating = 0;  // seconds, not counted as training
    try {
      while (step_ < plan_.steps) {
        const auto step_start = Clock::now();
        const double rate =
            learning_rate(step_, plan_.steps, plan_.warm_up, plan_.rate, plan_.least_rate);
        progress.loss = one_step(rate);
        progress.step = ++step_;
        progress.tokens_per_second =
            static_cast<double>(tokens_per_step_) / seconds_since(step_start);
        log_.add({step_, progress.loss, rate, progress.tokens_per_second, {}});
        if (plan_.evaluate_every > 0 && step_ % plan_.evaluate_every == 0 && step_ < plan_.steps) {
          const auto evaluation_start = Clock::now();
          progress.held_out = held_out_score(false);
          log_.add_score(progress.held_out);
          evaluating += seconds_since(evaluation_start);
        }
        const double per_step =
            (seconds_since(start) - evaluating) / static_cast<double>(step_ - first_step);
        progress.seconds_left = per_step * static_cast<double>(plan_.steps - step_);
        if (report) report(progress);
        if (seconds_since(saved) >= plan_.save_every_seconds) {
          save();
          saved = Clock::now();
        }
      }
    } catch (const Stopped&) {
      save();
      throw;
    }
    save();
    const Score score = held_out_score(true);
    log_.add_score(score);
    log_.save();
    return {progress.loss, score};
  }

 private:
  void resume(const TrainingState& state) {
    for (auto& [name, weight] : checkpoint_.model.weights) {
      weight = weight_of(state, name, weight.shape());
    }
    // Weights that training moves without gradients come into being on the way.
    for (const std::string& name : untrained_names(checkpoint_.model.config)) {
      const auto known = state.weights.find(name);
      if (known != state.weights.end())
        checkpoint_.model.weights.insert_or_assign(name, known->second);
    }
    optimiser_.moments() = state.moments;
    optimiser_.set_steps(state.optimiser_steps);
    step_ = saved_step_ = state.step;
    log_.keep(step_);
  }

  Var weight_of(const TrainingState& state, const std::string& name, const Shape& shape) const {
    const auto found = state.weights.find(name);
    if (found == state.weights.end() || found->second.shape() != shape) {
      throw InputError(
          (plan_.folder / "training.safetensors").string() + ": weight " + name + ": expected " +
          to_string(shape) + ", found " +
          (found == state.weights.end() ? "nothing" : to_string(found->second.shape())));
    }
    return found->second;
  }

  // Gradients of a batch, in parts; then one move of the weights. Returns the loss.
  double one_step(double rate) {
    const Index part = plan_.micro_batch > 0 ? plan_.micro_batch : plan_.batch;
    const Index parts = plan_.batch / part;
    Model model = checkpoint_.model;
    for (const auto& [name, parameter] : parameters_) model.weights[name] = parameter;
    std::map<std::string, Tensor> adapted;  // weights that move without gradients
    double loss_sum = 0;
    for (Index p = 0; p < parts; ++p) {
      const auto sequence_number = static_cast<std::uint64_t>(step_ * plan_.batch + p * part);
      Batch batch = task_->batch(sequence_number, part);
      batch.progress = static_cast<double>(step_) / static_cast<double>(plan_.steps);
      ForwardOptions options;
      options.stop = stop_;
      options.training = true;
      options.dropout_seed = mixed_seed(plan_.seed, sequence_number);
      options.adapted = &adapted;
      try {
        const Output output = attnscope::run(model, batch, options);
        loss_sum += static_cast<double>(output.losses.front().value.value()[0]);
        stop_.check();
        backward(scale(output.total_loss(), 1.0f / static_cast<float>(parts)));
      } catch (const Stopped&) {
        for (auto& [name, parameter] : parameters_) parameter.clear_gradient();
        throw;
      }
    }
    const double loss = loss_sum / static_cast<double>(parts);
    const double length = std::isfinite(loss) ? optimiser_.step(parameters_, rate) : kNaN;
    if (!std::isfinite(length)) {
      throw WorkError("step " + std::to_string(step_ + 1) +
                      ": the loss or its gradient is no finite number; " +
                      (saved_step_ < 0 ? std::string("nothing was saved before")
                                       : plan_.folder.string() + " keeps the model of step " +
                                             std::to_string(saved_step_)) +
                      " (a lower rate may help)");
    }
    for (const auto& [name, value] : adapted) checkpoint_.model.weights[name] = Var(value);
    return loss;
  }

  Score held_out_score(bool all) {
    refresh_checkpoint();
    return task_->score(checkpoint_, all, stop_);
  }

  // The checkpoint's weights share the parameters' numbers.
  void refresh_checkpoint() {
    for (const auto& [name, parameter] : parameters_) {
      checkpoint_.model.weights[name] = Var(parameter.value());
    }
  }

  void save() {
    refresh_checkpoint();
    fs::create_directories(plan_.folder);
    save_checkpoint(plan_.folder, checkpoint_, plan_.half);
    log_.save();
    save_state(plan_, {step_, checkpoint_.model.weights, optimiser_.moments(), optimiser_.steps()});
    saved_step_ = step_;
  }

  const TrainingPlan& plan_;
  Stop stop_;
  AdamW optimiser_;
  LossLog log_;
  Checkpoint checkpoint_;
  std::unique_ptr<Task> task_;
  NamedVars parameters_;
  Index step_ = 0, saved_step_ = -1, tokens_per_step_ = 0;
};

}  // namespace

TrainingResult train(const TrainingPlan& plan,
                     const std::function<void(const TrainingProgress&)>& progress,
                     const Stop& stop) {
  check(plan);
  return Training(plan, stop).run(progress);
}

}  // namespace attnscope
