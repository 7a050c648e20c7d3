// Above the picture: tabs of the views, which layer and head they show, colours, and what can be
// set in this view alone.
#pragma once

#include "app/window/panels/parameter_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// `texts`: in the fields of the view's parameters.
void draw_toolbar(Ui& ui, State& state, ListTexts& texts);

}  // namespace attnscope::window
