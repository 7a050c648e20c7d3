// What the speaker's window shows: what may be said, what comes next, how long it has been.
#pragma once

#include <string>

#include "app/window/jobs/step_pictures.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

std::string elapsed_text(double seconds);  // "7:05", "1:02:03"
// What the speaker must know of the run that the audience sees, and what a status line would say.
std::string stage_status(const State& state);

// `own_monitor`: nobody but the speaker sees it.
void draw_speaker_panel(Ui& ui, State& state, const StepPictures& pictures, bool own_monitor);

}  // namespace attnscope::window
