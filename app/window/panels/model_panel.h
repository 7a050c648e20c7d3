// Left panel: model, attention variant, positional encoding and device, with reasons why choices
// are unavailable.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/window/panels/parameter_panel.h"
#include "app/window/panels/training_step.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"
#include "core/checkpoint/card.h"

namespace attnscope::window {

// State of the left panel that is not part of State; owned by the main window.
struct ModelPanel {
  std::vector<ModelGroup> models;  // bundled models
  // Bundled models by the id of a variant or encoding that the default model lacks. nullopt until a
  // run has untrained weights.
  std::optional<std::map<std::string, std::string, std::less<>>> models_by_choice{};
  ParameterWidgets widgets;
  TrainingSteps training;
};

// Reads the files that the left panels need for the current model. Called before each frame.
void read_model_files(State& state, ModelPanel& panel);

// Switch between A and B for the left panels; draws nothing without a run B.
void draw_edited_switch(Ui& ui, State& state);

void draw_model_panel(Ui& ui, State& state, ModelPanel& panel);

}  // namespace attnscope::window
