// Which stack, kind of attention, step and segment the picture shows, where a run has several.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// On the line of the item before, where there is room.
void draw_part_chooser(Ui& ui, State& state);

}  // namespace attnscope::window
