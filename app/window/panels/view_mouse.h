// The mouse's work on the picture: panning, zooming, dragging and clicking what the view offers for
// it, pinning.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"
#include "core/view/view.h"

namespace attnscope::window {

// After the picture's item; state.view.pointer says where the mouse is in the picture.
void use_mouse(Ui& ui, State& state, const ViewLayout& layout, const View& view);

}  // namespace attnscope::window
