// Mouse input on the picture: panning, zooming, pinning, and the handles of the view.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"
#include "core/view/view.h"

namespace attnscope::window {

// Call directly after the picture's item. Reads state.view.pointer, the position in the picture.
void use_mouse(Ui& ui, State& state, const ViewLayout& layout, const View& view);

}  // namespace attnscope::window
