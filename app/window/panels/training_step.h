// Slider over the snapshots of a training, which selects the model of an earlier step.
#pragma once

#include <string>
#include <vector>

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Snapshots of the edited model's training, read from its folder twice a second.
struct TrainingSteps {
  std::string folder;        // training folder
  std::vector<Index> steps;  // ascending
  double next_read = 0;      // seconds of the window's clock
};

// Draws nothing if the edited model has no snapshots.
void draw_training_step(Ui& ui, State& state, TrainingSteps& training);

}  // namespace attnscope::window
