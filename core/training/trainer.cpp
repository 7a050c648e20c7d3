#include "core/training/trainer.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/random.h"
#include "core/base/stop_scope.h"
#include "core/checkpoint/card.h"
#include "core/model/architecture.h"
#include "core/model/memory_need.h"
#include "core/model/weights.h"

namespace attnscope {

namespace {

// Before anything is made of it.
void check_memory(const ModelConfig& config, const TrainingPlan& plan) {
  const Index length = sequence_length(plan);
  const bool two = architecture(config.architecture.id).reads == Reads::SourceAndTarget;
  check_training_memory(config, {.length = {length, two ? length : 0},
                                 .at_once = plan.micro_batch > 0 ? plan.micro_batch : plan.batch,
                                 .batch = plan.batch});
}

}  // namespace

Trainer::Trainer(const TrainingPlan& plan, const Stop& stop)
    : plan_(plan),
      optimiser_({plan.beta1, plan.beta2, 1e-8, plan.weight_decay, plan.clip}),
      log_(plan.folder) {
  check(plan_);
  const std::optional<TrainingState> state = load_state(plan_);
  checkpoint_.name = plan_.folder.filename().string();
  task_ = task(plan_.task).make(plan_, stop);
  checkpoint_.tokenizer = task_->tokenizer();
  const ModelConfig config = task_->config(plan_.model);
  check_memory(config, plan_);
  checkpoint_.model = make_model(config, plan_.seed);
  optimiser_.set_most(most_of_weights(config));
  if (state) resume(*state);
  const std::set<std::string> constant = untrained_names(config);
  for (const auto& [name, weight] : checkpoint_.model.weights) {
    if (!constant.contains(name)) parameters_.emplace(name, Var::parameter(weight.value()));
  }
}

void Trainer::resume(const TrainingState& state) {
  for (auto& [name, weight] : checkpoint_.model.weights) {
    weight = weight_of(state, name, weight.shape());
  }
  // Weights that training moves without gradients come into being on the way.
  for (const std::string& name : untrained_names(checkpoint_.model.config)) {
    const auto known = state.weights.find(name);
    if (known != state.weights.end())
      checkpoint_.model.weights.insert_or_assign(name, known->second);
  }
  for (const auto& [name, weight] : state.weights) {
    if (!checkpoint_.model.weights.contains(name)) {
      throw InputError((plan_.folder / "training.safetensors").string() + ": weight " + name +
                       " is none of this model");
    }
  }
  optimiser_.moments() = state.moments;
  optimiser_.set_steps(state.optimiser_steps);
  step_ = saved_step_ = state.step;
  log_.keep(step_);
  const Index logged = log_.rows().empty() ? 0 : log_.rows().back().step;
  if (logged < step_) {
    note_ = (plan_.folder / "loss.csv").string() + ": the rows of steps " +
            std::to_string(logged + 1) + " to " + std::to_string(step_) + " were not there";
  }
}

Var Trainer::weight_of(const TrainingState& state, const std::string& name,
                       const Shape& shape) const {
  const auto found = state.weights.find(name);
  if (found == state.weights.end() || found->second.shape() != shape) {
    throw InputError((plan_.folder / "training.safetensors").string() + ": weight " + name +
                     ": expected " + to_string(shape) + ", found " +
                     (found == state.weights.end() ? "nothing" : to_string(found->second.shape())));
  }
  return found->second;
}

LossRow Trainer::step(const Stop& stop) {
  const auto start = std::chrono::steady_clock::now();
  const double rate =
      learning_rate(step_, plan_.steps, plan_.warm_up, plan_.rate, plan_.least_rate);
  const double loss = move(rate, stop);
  ++step_;
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  const auto tokens = static_cast<double>(plan_.batch * sequence_length(plan_));
  log_.add({step_, loss, rate, tokens / time.count(), {}});
  return log_.rows().back();
}

// Gradients of a batch, in parts; then one move of the weights. Returns the loss.
double Trainer::move(double rate, const Stop& stop) {
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
    options.stop = stop;
    options.training = true;
    options.dropout_seed = mixed_seed(plan_.seed, sequence_number);
    options.adapted = &adapted;
    try {
      const StopScope scope(stop);  // of the backward pass, too
      const Output output = attnscope::run(model, batch, options);
      loss_sum += static_cast<double>(output.losses.front().value.value()[0]);
      stop.check();
      backward(scale(output.total_loss(), 1.0f / static_cast<float>(parts)));
    } catch (const Stopped&) {
      for (auto& [name, parameter] : parameters_) parameter.clear_gradient();
      throw;
    }
  }
  const double loss = loss_sum / static_cast<double>(parts);
  const double length = std::isfinite(loss) ? optimiser_.step(parameters_, rate)
                                            : std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(length)) fail();
  for (const auto& [name, value] : adapted) checkpoint_.model.weights[name] = Var(value);
  return loss;
}

void Trainer::fail() const {
  throw WorkError(
      "step " + std::to_string(step_ + 1) + ": the loss or its gradient is no finite number; " +
      (saved_step_ < 0
           ? std::string("nothing was saved before")
           : plan_.folder.string() + " keeps the model of step " + std::to_string(saved_step_)) +
      " (a lower rate may help)");
}

std::shared_ptr<const Checkpoint> Trainer::snapshot() const {
  auto copy = std::make_shared<Checkpoint>(checkpoint_);
  for (auto& [name, weight] : copy->model.weights) {
    const auto parameter = parameters_.find(name);
    const Tensor& now = parameter != parameters_.end() ? parameter->second.value() : weight.value();
    weight = Var(now.copy());
  }
  return copy;
}

Score Trainer::score(bool all, const Stop& stop) {
  refresh_checkpoint();
  const Score score = task_->score(checkpoint_, all, stop);
  log_.add_score(score);
  return score;
}

// The checkpoint's weights share the parameters' numbers.
void Trainer::refresh_checkpoint() {
  for (const auto& [name, parameter] : parameters_) {
    checkpoint_.model.weights[name] = Var(parameter.value());
  }
}

void Trainer::save() {
  refresh_checkpoint();
  make_folder(plan_.folder);
  save_checkpoint(plan_.folder, checkpoint_, plan_.half);
  save_card(plan_.folder, plan_.task, checkpoint_.model.config);
  log_.save();
  save_state(plan_, {step_, checkpoint_.model.weights, optimiser_.moments(), optimiser_.steps()});
  saved_step_ = step_;
}

}  // namespace attnscope
