// A training under way, step by step. train() is a loop over it; a window may step and look at what
// has become of the model in between:
//
//   Trainer trainer(plan, stop);
//   while (!trainer.done()) {
//     trainer.step(stop);
//     model_store()->give("in training", trainer.snapshot());
//   }
//   trainer.save();
#pragma once

#include <memory>

#include "core/checkpoint/checkpoint.h"
#include "core/training/loss_log.h"
#include "core/training/optimiser.h"
#include "core/training/state.h"
#include "core/training/task.h"
#include "core/training/train.h"

namespace attnscope {

// For one thread at a time; what snapshot() gives may go to others.
class Trainer {
 public:
  // Goes on from the state in the plan's folder where there is one. Writes nothing yet. InputError
  // where the plan or that state does not do.
  Trainer(const TrainingPlan& plan, const Stop& stop);

  Index steps_done() const { return step_; }
  bool done() const { return step_ >= plan_.steps; }

  // What is to be said of how it went on: the log lacks steps. Empty: nothing.
  const std::string& note() const { return note_; }

  // One batch and one move of the weights; the row of the log that it added. Stopped leaves all as
  // it was before. WorkError where the loss is no number: the weights have not moved, and what was
  // saved last stays.
  LossRow step(const Stop& stop);

  // The model as it is now, in weights of its own: later steps do not move them.
  std::shared_ptr<const Checkpoint> snapshot() const;

  // How well it does on what is held out: see Task::score(). Goes into the log as well.
  Score score(bool all, const Stop& stop);

  // The folder's files, as train() says.
  void save();
  // loss.csv and loss.png alone.
  void save_log() const { log_.save(); }

 private:
  void resume(const TrainingState& state);
  Var weight_of(const TrainingState& state, const std::string& name, const Shape& shape) const;
  double move(double rate, const Stop& stop);
  [[noreturn]] void fail() const;
  void refresh_checkpoint();

  const TrainingPlan plan_;
  AdamW optimiser_;
  LossLog log_;
  Checkpoint checkpoint_;
  std::unique_ptr<Task> task_;
  NamedVars parameters_;
  Index step_ = 0;  // done
  std::string note_;
  Index saved_step_ = -1;  // as of the last save; -1: there is none
};

}  // namespace attnscope
