// Toolbar above the picture: tabs of the views, layer and head, colours, and the parameters of the
// view.
#pragma once

#include "app/window/panels/parameter_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// `widgets`: of the view's parameters.
void draw_toolbar(Ui& ui, State& state, ParameterWidgets& widgets);

}  // namespace attnscope::window
