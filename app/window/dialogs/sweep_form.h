// Form of the dialog Experiment that writes a sweep of the session.
#pragma once

#include "app/window/widgets/ui.h"

namespace attnscope::window {

struct State;

void draw_sweep_form(Ui& ui, State& state);

}  // namespace attnscope::window
