// List of interventions in the model, each with a button that removes it.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Draws nothing if there are no interventions.
void draw_intervention_panel(Ui& ui, State& state);

}  // namespace attnscope::window
