// Export preview, next to its settings.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Laid out again if an input changed, exactly as for the file: at true size with scrolling, or
// fitted. Kept in the dialog's state.
void draw_export_preview(Ui& ui, State& state, Painter& painter, float width, float height);

}  // namespace attnscope::window
