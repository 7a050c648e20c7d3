// How layers make the model: architecture, join, early exits, segments. Folded until it is wanted.
#pragma once

#include "app/window/panels/parameter_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

void draw_structure_panel(Ui& ui, State& state, ListTexts& texts);

}  // namespace attnscope::window
