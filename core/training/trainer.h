// Step-by-step training. train() is a loop over step(); a window can inspect the model between
// steps:
//
//   Trainer trainer(plan);
//   while (!trainer.is_done()) {
//     trainer.step();
//     model_store()->publish("in training", trainer.snapshot());
//   }
//   trainer.save();
#pragma once

#include <map>
#include <memory>

#include "core/checkpoint/checkpoint.h"
#include "core/training/loss_log.h"
#include "core/training/loss_rise.h"
#include "core/training/optimiser.h"
#include "core/training/state.h"
#include "core/training/task.h"
#include "core/training/train.h"
#include "core/training/weight_growth.h"

namespace attnscope {

// Use from one thread at a time; snapshots may be shared between threads.
class Trainer {
 public:
  // Continues from the training state in the plan's folder if there is one. Writes no files. Throws
  // InputError if the plan or the state is invalid.
  Trainer(const TrainingPlan& plan, std::shared_ptr<TrainingControls> controls = nullptr);

  Index steps_done() const { return step_; }
  bool is_done() const { return step_ >= plan_.steps; }

  // Warning for the user if the log of a resumed training lacks steps; else empty.
  const std::string& log_warning() const { return log_warning_; }

  // Notes about the weights that a training starts with and trains: those kept from another model,
  // those initialised. Empty if it was resumed, or trains all weights from initial values.
  const std::vector<std::string>& start_notes() const { return start_notes_; }

  // Trains on one batch and returns the new row of the log. Throws Stopped, or WorkError if the
  // loss is not finite; neither changes the model or the last save.
  LossRow step();
  // As step(), at this learning rate instead of the plan's.
  LossRow step_at(double rate);

  const LossLog& log() const { return log_; }
  // The rise of the last step's loss; null if it did not rise.
  const LossRise* rise() const { return rise_ ? &*rise_ : nullptr; }

  // Copy of the current model, unaffected by later steps.
  std::shared_ptr<const Checkpoint> snapshot() const;

  // Returns the score on held-out data (Task::score()). Adds it to the log, with the match of the
  // task's expected map.
  Score score(bool use_all);

  // Score on all held-out data, without an entry in the log.
  Score initial_score() const { return task_->score(checkpoint_, true); }

  // Writes the folder's files listed in train.h.
  void save();
  // Writes the current model to the folder's snapshots (core/checkpoint/snapshots.h).
  void save_snapshot();
  // Writes loss.csv and loss.png only.
  void save_log() const { log_.save(); }

 private:
  void start();
  void resume(const TrainingState& state);
  Var stored_weight(const TrainingState& state, const std::string& name, const Shape& shape) const;
  void select_parameters();
  double update(double rate);
  void enter_stage();
  Task& training_task() const;
  void find_rise(double loss);
  void log_gradients(LossRow& row) const;
  ExpectedMatch expected_match() const;
  [[noreturn]] void throw_not_finite() const;
  void refresh_checkpoint();

  const TrainingPlan plan_;
  AdamW optimiser_;
  LossLog log_;
  Checkpoint checkpoint_;
  std::unique_ptr<Task> task_;                              // whole sequences; scores the model
  std::map<Index, std::unique_ptr<Task>> tasks_by_length_;  // of stages, by tokens per sequence
  std::optional<std::size_t> stage_;                        // current stage; nullopt: none
  ModelConfig stage_config_;                                // of the model in training steps
  Index sequence_ = 0;                                      // tokens per sequence
  NamedVars parameters_;
  Index step_ = 0;  // number of completed steps
  std::string log_warning_;
  std::vector<std::string> start_notes_;
  std::optional<Retrieval> retrieval_;
  const std::shared_ptr<TrainingControls> controls_;
  WeightGrowth growth_;
  std::optional<LossRise> rise_;
  Index saved_step_ = -1;  // step of the last save; -1 before the first save
};

}  // namespace attnscope
