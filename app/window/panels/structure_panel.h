// Model structure: architecture, residual connection, early exits, segments. Initially collapsed.
#pragma once

#include "app/window/panels/parameter_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

void draw_structure_panel(Ui& ui, State& state, ParameterWidgets& widgets);

}  // namespace attnscope::window
