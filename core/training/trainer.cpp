#include "core/training/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
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
#include "core/training/stages.h"
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

// Group of a weight in the log: "layers.0", "encoder.layers.1", "embed".
std::string layer_of(const std::string& weight) {
  const auto layers = weight.find("layers.");
  const std::size_t number = layers == std::string::npos ? 0 : layers + std::strlen("layers.");
  return weight.substr(0, weight.find('.', number));
}

std::vector<std::string> layers_of(const NamedVars& parameters) {
  std::vector<std::string> layers;
  for (const auto& [name, parameter] : parameters) {
    const std::string layer = layer_of(name);
    if (std::ranges::find(layers, layer) == layers.end()) layers.push_back(layer);
  }
  return layers;
}

// Output::total_loss() with the penalties multiplied by `factor`.
Var scaled_loss(const Output& output, double factor) {
  if (factor == 1) return output.total_loss();
  Output scaled = output;
  for (Loss& loss : scaled.losses) {
    const bool is_penalty = loss.name == "span" || loss.name.ends_with("ponder");
    if (is_penalty) loss.weighted = scale(loss.weighted, static_cast<float>(factor));
  }
  return scaled.total_loss();
}

// Adds the weights of a retrieval head with their initial value, zero: a gate of one half.
void add_gate(const RetrievalHead& head, Model& model) {
  for (const WeightSpec& spec : weight_specs(model.config)) {
    if (spec.owner == head.id) model.weights.emplace(spec.name, Var(Tensor::zeros(spec.shape)));
  }
}

}  // namespace

Trainer::Trainer(const TrainingPlan& plan, std::shared_ptr<TrainingControls> controls)
    : plan_(plan),
      optimiser_({plan.beta1, plan.beta2, 1e-8, plan.weight_decay, plan.clip}),
      log_(plan.folder),
      controls_(controls != nullptr ? std::move(controls) : std::make_shared<TrainingControls>()) {
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
  stage_config_ = checkpoint_.model.config;
  sequence_ = sequence_length(plan_);
  select_parameters();
  log_.set_layers(layers_of(parameters_));
  growth_.measure(parameters_, step_);
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
  if (!controls_->overrides_saved) {
    controls_->rate_factor = state.rate_factor;
    controls_->decay_factor = state.decay_factor;
    controls_->penalty_factor = state.penalty_factor;
  }
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
  const double rate = learning_rate(step_, plan_.steps, plan_.warm_up, plan_.learning_rate,
                                    plan_.min_learning_rate);
  const double factor = plan_.stages.empty() ? 1 : plan_.stages[stage_at(plan_, step_)].rate;
  return step_at(rate * factor * controls_->rate_factor);
}

// Prepares the stage and the sequences of the next step.
void Trainer::enter_stage() {
  if (plan_.stages.empty()) return;
  const std::size_t stage = stage_at(plan_, step_);
  if (stage_ != stage) {
    TrainingPlan planned = plan_;
    planned.model = checkpoint_.model.config;
    stage_config_ = stage_plan(planned, plan_.stages[stage]).model;
    stage_ = stage;
  }
  sequence_ = sequence_at(plan_, step_);
  if (sequence_ == sequence_length(plan_) || tasks_by_length_.contains(sequence_)) return;
  TrainingPlan planned = plan_;
  planned.stages.clear();
  planned.sequence = sequence_;
  tasks_by_length_.emplace(sequence_, task(plan_.task).make(planned));
}

Task& Trainer::training_task() const {
  const auto found = tasks_by_length_.find(sequence_);
  return found != tasks_by_length_.end() ? *found->second : *task_;
}

LossRow Trainer::step_at(double rate) {
  const auto start = std::chrono::steady_clock::now();
  enter_stage();
  const double loss = update(rate);
  ++step_;
  growth_.measure(parameters_, step_);
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - start;
  const auto tokens = static_cast<double>(plan_.batch * sequence_);
  LossRow row;
  row.step = step_;
  row.loss = loss;
  row.learning_rate = rate;
  row.tokens_per_second = tokens / duration.count();
  log_gradients(row);
  log_.add(row);
  return row;
}

void Trainer::log_gradients(LossRow& row) const {
  std::map<std::string, double> squares;
  double sum = 0;
  for (const auto& [name, norm] : optimiser_.gradient_norms()) {
    squares[layer_of(name)] += norm * norm;
    sum += norm * norm;
  }
  row.gradient_norm = std::sqrt(sum);
  for (const std::string& layer : log_.layers()) row.gradients.push_back(std::sqrt(squares[layer]));
}

// Sets rise_ from the loss of the step in progress, before its update.
void Trainer::find_rise(double loss) {
  rise_.reset();
  const double mean = mean_before_rise(log_.rows(), loss);
  if (std::isnan(mean)) return;
  refresh_checkpoint();
  Checkpoint staged = checkpoint_;
  staged.model.config = stage_config_;
  rise_ = explain_rise(log_.rows().back(), loss, mean, staged, training_task(), plan_.batch);
}

// Accumulates the gradients of all micro-batches, then updates once. Returns the loss.
double Trainer::update(double rate) {
  const Index size = plan_.micro_batch > 0 ? plan_.micro_batch : plan_.batch;
  const Index count = plan_.batch / size;
  Model model = checkpoint_.model;
  model.config = stage_config_;
  for (const auto& [name, parameter] : parameters_) model.weights[name] = parameter;
  std::map<std::string, Tensor> adapted;  // weights trained without gradients
  double loss_sum = 0;
  try {
    for (Index p = 0; p < count; ++p) {
      const auto sequence_number = static_cast<std::uint64_t>(step_ * plan_.batch + p * size);
      Batch batch = training_task().batch(sequence_number, size);
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
      const Var total = scaled_loss(output, controls_->penalty_factor);
      backward(scale(total, 1.0f / static_cast<float>(count)));
    }
  } catch (const Stopped&) {
    for (auto& [name, parameter] : parameters_) parameter.clear_gradient();
    throw;
  }
  const UninterruptedScope updating;
  optimiser_.set_weight_decay(plan_.weight_decay * controls_->decay_factor);
  const double loss = loss_sum / static_cast<double>(count);
  find_rise(loss);
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
      "; the first weight to grow: " + growth_.first_grown() + " (try a lower learning rate)");
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
  log_.add_score(score, expected_match());
  return score;
}

ExpectedMatch Trainer::expected_match() const {
  const TaskInfo& info = task(plan_.task);
  if (!info.expected) return {};
  constexpr std::uint64_t kFirst = std::uint64_t{1} << 60;  // not used in training
  constexpr std::uint64_t kSequences = 8;
  std::vector<Batch> sequences;
  for (std::uint64_t n = 0; n < kSequences; ++n) {
    // Sequences of different steps, so that lengths drawn by step differ.
    sequences.push_back(task_->batch(kFirst + n * static_cast<std::uint64_t>(plan_.batch), 1));
  }
  return best_match(checkpoint_.model, *info.expected, sequences);
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
  save_state(plan_, {step_, checkpoint_.model.weights, optimiser_.moments(), optimiser_.steps(),
                     controls_->rate_factor, controls_->decay_factor, controls_->penalty_factor});
  saved_step_ = step_;
}

}  // namespace attnscope
