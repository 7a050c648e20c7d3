// Part of the export dialog for the animated parameter.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

void draw_export_frames(Ui& ui, State& state);

}  // namespace attnscope::window
