// Part of the export dialog for the animated parameter.
#pragma once

#include "app/window/widgets/ui.h"
#include "core/trace/trace.h"
#include "core/view/export/frames.h"

namespace attnscope::window {

// Draws the choice of the animated parameter and its range. `trace` is a run of `session`.
void draw_export_frames(Ui& ui, FrameOptions& frames, const Session& session, const Trace& trace);

}  // namespace attnscope::window
