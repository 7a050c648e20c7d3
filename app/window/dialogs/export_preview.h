// What an export will look like, beside its settings.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Laid out anew where something of it changed, as the file is: at its true size on the screen, to
// be scrolled, or the whole of it. Kept in the dialog's state.
void draw_export_preview(Ui& ui, State& state, Painter& painter, float width, float height);

}  // namespace attnscope::window
