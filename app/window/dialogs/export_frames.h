// Part of the export dialog for the animated parameter.
#pragma once

#include "app/window/widgets/ui.h"
#include "core/trace/trace.h"
#include "core/view/export/frames.h"

namespace attnscope::window {

// `shown`: the session of `trace`, whose parameter is animated.
void draw_export_frames(Ui& ui, FrameOptions& frames, const Session& shown, const Trace& trace);

}  // namespace attnscope::window
