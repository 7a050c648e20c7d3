// Text input: samples, the editor with soft-wrapped lines, and the resulting tokens.
#pragma once

#include <string>
#include <vector>

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

void draw_text_panel(Ui& ui, State& state);
void draw_tokens(Ui& ui, State& state);

}  // namespace attnscope::window
