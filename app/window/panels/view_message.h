// Messages in place of the picture or over it: instructions, errors, progress of a run.
#pragma once

#include <string>

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Centred in the rectangle at `at`, in pixels. Returns the y below the message.
float draw_message(Ui& ui, ImVec2 at, ImVec2 size, const std::string& title,
                   const std::string& text);

// Description of the pair found by "Show a strong pair", in a line above the picture; draws nothing
// for another pair.
void draw_salient_pair(Ui& ui, State& state);

// Message if there is no run to show: the reason, and after a refusal the buttons that resolve it.
// The buttons overlap the rectangle: an item covering it would take the pointer from them.
void draw_no_run(Ui& ui, State& state, ImVec2 at, ImVec2 size);

// Progress of a long run: a bar along the upper edge of the picture, and a label for the partial
// result shown until then.
void draw_run(Ui& ui, const State& state, ImVec2 at, ImVec2 size);

}  // namespace attnscope::window
