// What a person changes in the model, as a list from which each can be taken back.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Nothing where nothing is changed.
void draw_intervention_panel(Ui& ui, State& state);

}  // namespace attnscope::window
