// Export preview, next to its settings.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Draws the picture exactly as it will be written: in print size with scrolling, or scaled to fit.
void draw_export_preview(Ui& ui, State& state, Painter& painter, float width, float height);

}  // namespace attnscope::window
