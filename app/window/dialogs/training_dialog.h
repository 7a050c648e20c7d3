// Dialog that trains a model in the background. The window's run follows the model while it learns,
// and the slider Training step (panels/training_step.h) returns to earlier steps.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/window/dialogs/training_job.h"
#include "core/figure/display_list.h"
#include "core/training/rate_search.h"

namespace attnscope::window {

struct State;

struct TrainingDialog {
  bool open = false;
  TrainingSettings settings;
  std::vector<std::string> saved;  // names of the user's trainings, newest first
  bool is_saved = false;           // Start continues the saved training `settings.name`
  std::string folder;              // of the newest training
  bool is_followed = false;        // the window has selected the newest training's model
  std::unique_ptr<BackgroundTask<LearningCurve>> task;  // running training; null: none
  LearningCurve curve;                                  // of the newest training
  std::shared_ptr<TrainingControls> controls = std::make_shared<TrainingControls>();
  std::unique_ptr<BackgroundTask<RateSearch>> rate_task;  // running search; null: none
  RateSearch rates;                                       // shown instead of the loss if not empty
  std::string problem;
  std::vector<DisplayList> pictures;  // must live until the frame is drawn
};

void open_training_dialog(State& state);
// Starts or resumes a training. single_step: pauses after one step.
void start_training(State& state, bool single_step);
// Moves new results into the dialog, and selects the model after its first step. True if something
// changed.
bool take_training_results(State& state);

}  // namespace attnscope::window
