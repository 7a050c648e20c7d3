#include "core/training/train.h"

#include <chrono>
#include <limits>

#include "core/base/folder_lock.h"
#include "core/checkpoint/snapshots.h"
#include "core/training/trainer.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool is_snapshot_due(const Trainer& trainer, const TrainingPlan& plan) {
  if (plan.snapshot_every == 0) return false;
  return trainer.steps_done() % plan.snapshot_every == 0 || trainer.is_done();
}

// Makes the folder a model from the first step on, so that its snapshots can be opened.
void start_snapshots(Trainer& trainer, const TrainingPlan& plan) {
  remove_snapshots_after(plan.folder, trainer.steps_done());
  if (plan.snapshot_every == 0 || trainer.steps_done() > 0) return;
  trainer.save();
  trainer.save_snapshot();
}

// Runs the remaining steps; evaluates and saves in between. Returns the last loss.
double run_to_end(Trainer& trainer, const TrainingPlan& plan,
                  const std::function<void(const TrainingProgress&)>& report) {
  const auto start = Clock::now();
  const Index first_step = trainer.steps_done();
  auto last_save = start;
  TrainingProgress progress;
  progress.steps = plan.steps;
  progress.log = &trainer.log();
  progress.snapshot = [&] { return trainer.snapshot(); };
  progress.loss = std::numeric_limits<double>::quiet_NaN();
  double evaluation_seconds = 0;  // excluded from the training time
  while (!trainer.is_done()) {
    const LossRow row = trainer.step();
    progress.step = row.step;
    progress.loss = row.loss;
    progress.rise = trainer.rise();
    progress.tokens_per_second = row.tokens_per_second;
    if (plan.evaluate_every > 0 && row.step % plan.evaluate_every == 0 && !trainer.is_done()) {
      const auto evaluation_start = Clock::now();
      progress.held_out = trainer.score(false);
      evaluation_seconds += seconds_since(evaluation_start);
    }
    const double per_step = (seconds_since(start) - evaluation_seconds) /
                            static_cast<double>(progress.step - first_step);
    progress.seconds_left = per_step * static_cast<double>(plan.steps - progress.step);
    if (is_snapshot_due(trainer, plan)) trainer.save_snapshot();
    if (report) report(progress);
    if (seconds_since(last_save) >= plan.save_every_seconds) {
      trainer.save();
      last_save = Clock::now();
    }
  }
  return progress.loss;
}

}  // namespace

TrainingResult train(const TrainingPlan& plan,
                     const std::function<void(const TrainingProgress&)>& progress,
                     const std::function<void(const std::string& note)>& notify,
                     std::shared_ptr<TrainingControls> controls) {
  check(plan);
  const FolderLock lock(plan.folder, "training");
  Trainer trainer(plan, std::move(controls));
  for (const std::string& note : trainer.start_notes()) {
    if (notify) notify(note);
  }
  TrainingResult result;
  if (!plan.from.empty() && trainer.steps_done() == 0) result.before = trainer.initial_score();
  start_snapshots(trainer, plan);
  try {
    result.loss = run_to_end(trainer, plan, progress);
  } catch (const Stopped&) {
    trainer.save();
    throw;
  }
  trainer.save();
  result.held_out = trainer.score(true);
  trainer.save_log();
  if (const auto& expected = task(plan.task).expected) {
    result.expected = describe_match(expected->description, trainer.log().rows());
  }
  result.notes = future_leak_notes(trainer.snapshot()->model);
  if (!trainer.log_warning().empty()) result.notes.push_back(trainer.log_warning());
  return result;
}

}  // namespace attnscope
