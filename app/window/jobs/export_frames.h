// The part of the export dialog that says what moves in a moving picture.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

void draw_export_frames(Ui& ui, State& state);

}  // namespace attnscope::window
