// Toolbar above the picture: tabs of the views, layer, head, colours and parameters.
#pragma once

#include "app/window/panels/parameter_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// `widgets`: widgets of the view's parameters.
void draw_toolbar(Ui& ui, State& state, ParameterWidgets& widgets);

}  // namespace attnscope::window
