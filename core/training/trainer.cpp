#include "core/training/trainer.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include "core/autodiff/operations_elementwise.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/checkpoint/card.h"
#include "core/checkpoint/model_store.h"
#include "core/checkpoint/snapshots.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/model/memory_need.h"
#include "core/model/weights.h"
#include "core/training/start_model.h"

namespace attnscope {
namespace {

// Throws if the training needs too much memory, before anything is allocated.
void check_memory(const ModelConfig& config, const TrainingPlan& plan) {
  const Index length = sequence_length(plan);
  const bool has_source = architecture(config.architecture.id).reads == Reads::SourceAndTarget;
  check_training_memory(config,
                        {.length = {length, has_source ? length : 0},
                         .micro_batch = plan.micro_batch > 0 ? plan.micro_batch : plan.batch,
                         .batch = plan.batch,
                         .recomputes_layers = plan.checkpointing,
                         .stores_bfloat = plan.bfloat_storage});
}

// Adds the weights of a retrieval head with their initial value, zero: a gate of one half.
void add_gate(const RetrievalHead& head, Model& model) {
  for (const WeightSpec& spec : weight_specs(model.config)) {
    if (spec.owner == head.id) model.weights.emplace(spec.name, Var(Tensor::zeros(spec.shape)));
  }
}

}  // namespace

Trainer::Trainer(const TrainingPlan& plan)
    : plan_(plan),
      optimiser_({plan.beta1, plan.beta2, 1e-8, plan.weight_decay, plan.clip}),
      log_(plan.folder) {
  check(plan_);
  const std::optional<TrainingState> state = load_state(plan_);
  checkpoint_.name = plan_.folder.filename().string();
  task_ = task(plan_.task).make(plan_);
  checkpoint_.tokenizer = task_->tokenizer();
  const ModelConfig config = plan_.from.empty() ? task_->config(plan_.model) : plan_.model;
  check_memory(config, plan_);
  checkpoint_.model = make_model(config, plan_.seed);
  if (plan_.retrieval) {
    const RetrievalChoice& choice = *plan_.retrieval;
    retrieval_.emplace(choice, model_store()->contexts(choice.store), config);
    add_gate(retrieval_head(choice.retrieval_head.id), checkpoint_.model);
  }
  optimiser_.set_upper_bounds(weight_upper_bounds(config));
  if (state) {
    resume(*state);
  } else if (!plan_.from.empty()) {
    start();
  }
  select_parameters();
}

void Trainer::start() {
  const auto checkpoint = start_checkpoint(plan_);
  start_notes_.push_back(describe(take_weights(*checkpoint, checkpoint_.model), checkpoint->name));
}

void Trainer::select_parameters() {
  const std::set<std::string> constant = constant_weight_names(checkpoint_.model.config);
  std::vector<std::string> trainable;
  for (const auto& [name, weight] : checkpoint_.model.weights) {
    if (!constant.contains(name)) trainable.push_back(name);
  }
  const std::set<std::string> trained = matching_names(plan_.train_only, trainable);
  for (const std::string& name : trained) {
    parameters_.emplace(name, Var::parameter(checkpoint_.model.weights.find(name)->second.value()));
  }
  if (step_ == 0 && !plan_.train_only.empty()) {
    start_notes_.push_back("trains " + std::to_string(trained.size()) + " of " +
                           count_text(static_cast<long long>(trainable.size()), "weight") + ": " +
                           weight_groups({trained.begin(), trained.end()}));
  }
}

void Trainer::resume(const TrainingState& state) {
  // Optional weights, which initial models lack, come from the model that the training started
  // from.
  for (const WeightSpec& spec : weight_specs(checkpoint_.model.config)) {
    if (spec.optional && state.weights.contains(spec.name)) {
      checkpoint_.model.weights.insert_or_assign(spec.name,
                                                 stored_weight(state, spec.name, spec.shape));
    }
  }
  for (auto& [name, weight] : checkpoint_.model.weights) {
    weight = stored_weight(state, name, weight.shape());
  }
  // These weights are created and updated during training, without gradients.
  for (const std::string& name : constant_weight_names(checkpoint_.model.config)) {
    const auto entry = state.weights.find(name);
    if (entry != state.weights.end())
      checkpoint_.model.weights.insert_or_assign(name, entry->second);
  }
  for (const auto& [name, weight] : state.weights) {
    if (!checkpoint_.model.weights.contains(name)) {
      throw InputError((plan_.folder / "training.safetensors").string() + ": weight " + name +
                       " does not belong to this model");
    }
  }
  optimiser_.moments() = state.moments;
  optimiser_.set_steps(state.optimiser_steps);
  step_ = saved_step_ = state.step;
  log_.load_steps(step_);
  const Index logged = log_.rows().empty() ? 0 : log_.rows().back().step;
  if (logged < step_) {
    log_warning_ = (plan_.folder / "loss.csv").string() + ": the rows of steps " +
                   std::to_string(logged + 1) + " to " + std::to_string(step_) + " are missing";
  }
}

Var Trainer::stored_weight(const TrainingState& state, const std::string& name,
                           const Shape& shape) const {
  const auto found = state.weights.find(name);
  if (found == state.weights.end() || found->second.shape() != shape) {
    throw InputError((plan_.folder / "training.safetensors").string() + ": weight " + name +
                     ": expected " + to_string(shape) + ", found " +
                     (found == state.weights.end() ? "nothing" : to_string(found->second.shape())));
  }
  return found->second;
}

LossRow Trainer::step() {
  const auto start = std::chrono::steady_clock::now();
  const double rate = learning_rate(step_, plan_.steps, plan_.warm_up, plan_.learning_rate,
                                    plan_.min_learning_rate);
  const double loss = update(rate);
  ++step_;
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - start;
  const auto tokens = static_cast<double>(plan_.batch * sequence_length(plan_));
  log_.add({step_, loss, rate, tokens / duration.count(), {}});
  return log_.rows().back();
}

// Accumulates the gradients of all micro-batches, then updates once. Returns the loss.
double Trainer::update(double rate) {
  const Index size = plan_.micro_batch > 0 ? plan_.micro_batch : plan_.batch;
  const Index count = plan_.batch / size;
  Model model = checkpoint_.model;
  for (const auto& [name, parameter] : parameters_) model.weights[name] = parameter;
  std::map<std::string, Tensor> adapted;  // weights trained without gradients
  double loss_sum = 0;
  try {
    for (Index p = 0; p < count; ++p) {
      const auto sequence_number = static_cast<std::uint64_t>(step_ * plan_.batch + p * size);
      Batch batch = task_->batch(sequence_number, size);
      batch.progress = static_cast<double>(step_) / static_cast<double>(plan_.steps);
      ForwardOptions options;
      options.training = true;
      options.recomputes_layers = plan_.checkpointing;
      options.stores_bfloat = plan_.bfloat_storage;
      options.dropout_seed = derived_seed(plan_.seed, sequence_number);
      options.adapted = &adapted;
      options.retrieval = retrieval_ ? &*retrieval_ : nullptr;
      const Output output = attnscope::run(model, batch, options);
      loss_sum += static_cast<double>(output.losses.front().value.value()[0]);
      check_stop();
      backward(scale(output.total_loss(), 1.0f / static_cast<float>(count)));
    }
  } catch (const Stopped&) {
    for (auto& [name, parameter] : parameters_) parameter.clear_gradient();
    throw;
  }
  const UninterruptedScope updating;
  const double loss = loss_sum / static_cast<double>(count);
  const double norm = std::isfinite(loss) ? optimiser_.step(parameters_, rate)
                                          : std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(norm)) throw_not_finite();
  for (const auto& [name, value] : adapted) checkpoint_.model.weights[name] = Var(value);
  return loss;
}

void Trainer::throw_not_finite() const {
  throw WorkError(
      "step " + std::to_string(step_ + 1) + ": the loss or its gradient is not finite; " +
      (saved_step_ < 0
           ? std::string("nothing has been saved")
           : plan_.folder.string() + " keeps the model of step " + std::to_string(saved_step_)) +
      " (try a lower learning rate)");
}

std::shared_ptr<const Checkpoint> Trainer::snapshot() const {
  auto copy = std::make_shared<Checkpoint>(checkpoint_);
  for (auto& [name, weight] : copy->model.weights) {
    const auto parameter = parameters_.find(name);
    const Tensor& current =
        parameter != parameters_.end() ? parameter->second.value() : weight.value();
    weight = Var(current.copy());
  }
  return copy;
}

Score Trainer::score(bool use_all) {
  refresh_checkpoint();
  const Score score = task_->score(checkpoint_, use_all);
  log_.add_score(score);
  return score;
}

// Makes the checkpoint's weights share memory with the parameters.
void Trainer::refresh_checkpoint() {
  for (const auto& [name, parameter] : parameters_) {
    checkpoint_.model.weights[name] = Var(parameter.value());
  }
}

void Trainer::save_snapshot() {
  const UninterruptedScope saving;
  refresh_checkpoint();
  attnscope::save_snapshot(plan_.folder, step_, checkpoint_, plan_.task, plan_.half);
}

void Trainer::save() {
  const UninterruptedScope saving;
  refresh_checkpoint();
  make_folder(plan_.folder);
  save_checkpoint(plan_.folder, checkpoint_, plan_.half);
  save_card(plan_.folder, plan_.task, checkpoint_.model.config);
  log_.save();
  save_state(plan_, {step_, checkpoint_.model.weights, optimiser_.moments(), optimiser_.steps()});
  saved_step_ = step_;
}

}  // namespace attnscope
