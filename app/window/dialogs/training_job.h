// Settings of the dialog Train a model, their plan, and the background job. No drawing here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/window/jobs/background_task.h"
#include "core/part/info.h"
#include "core/training/learning_curve.h"

namespace attnscope::window {

// Empty choices keep those of the task's preset, or of the model to start from.
struct TrainingSettings {
  std::string task;  // id in tasks()
  std::string text;  // file, for tasks on files
  std::string from;  // model to start from; empty: initial weights
  std::string name;  // of the model, in user_models_folder()
  std::string architecture, variant, encoding, residual_connection;  // ids
  Index steps = 0;                                                   // of the whole training
  std::string stages;        // for stages_from_text(); not empty: replace `steps`
  double learning_rate = 0;  // its peak
};

// Tasks with a preset that trains within a minute.
std::vector<std::string> offered_tasks();
// The task's preset with an unused name.
TrainingSettings settings_for_task(const std::string& task);
// Throws InputError if the settings are inconsistent.
TrainingPlan training_plan(const TrainingSettings& settings);
// Reason why the settings cannot be trained; empty if they can.
std::string settings_refusal(const TrainingSettings& settings);

// Names of the models in user_models_folder() with a training that can continue, newest first.
std::vector<std::string> saved_trainings();
// Plan of a saved training. Throws InputError if its files are broken.
TrainingPlan saved_plan(const std::string& name);
// Curve of a training in its folder; empty if there is none. Throws InputError.
LearningCurve saved_curve(const TrainingPlan& plan);

// Trains, and publishes the model under its folder's name twice a second.
LearningCurve run_training(const TrainingPlan& plan, LearningCurve curve, bool single_step,
                           std::shared_ptr<TrainingControls> controls,
                           BackgroundTask<LearningCurve>& task);

}  // namespace attnscope::window
