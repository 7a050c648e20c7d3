// Contents of the speaker's window: notes, next step, elapsed time.
#pragma once

#include <string>

#include "app/window/panels/step_textures.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

std::string elapsed_text(double seconds);  // "7:05", "1:02:03"
// Status of the run that the audience sees: progress, error, device, tokens and notes.
std::string stage_status(const State& state);

// `has_own_monitor`: the audience does not see the window.
void draw_speaker_panel(Ui& ui, State& state, const StepTextures& pictures, bool has_own_monitor);

}  // namespace attnscope::window
