// Toolbar above the picture: tabs of the views, layer and head, colours, and the parameters of the
// view.
#pragma once

#include "app/window/panels/parameter_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// `texts`: state of the view's parameter widgets.
void draw_toolbar(Ui& ui, State& state, ParameterWidgets& texts);

}  // namespace attnscope::window
