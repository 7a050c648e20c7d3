// Selects the stack, kind of attention, step and segment of the picture, each only if the run has
// several.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Continues the line of the previous item if there is room.
void draw_part_chooser(Ui& ui, State& state);

}  // namespace attnscope::window
