// Messages that replace or overlay the picture: instructions, errors, progress of a run.
#pragma once

#include <string>

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Draws a message centred in the rectangle at `origin` (pixels). Returns the lower edge's y.
float draw_message(Ui& ui, ImVec2 origin, ImVec2 size, const std::string& title,
                   const std::string& text);

// Draws a description of the pair found by "Show a strong pair", while that pair is shown.
void draw_salient_pair(Ui& ui, State& state);

// Draws the reason why there is no run to show and, after a refusal, buttons that resolve it. Draw
// no other item in the rectangle: it would receive the clicks on the buttons.
void draw_no_run(Ui& ui, State& state, ImVec2 origin, ImVec2 size);

// Draws a button that opens the view's example below the message `layout`, which has its corner at
// `origin`. As for draw_no_run(), draw no other item in the rectangle.
void draw_example_button(Ui& ui, State& state, const ViewLayout& layout, ImVec2 origin);

// Draws the progress of a long run: a bar along the upper edge of the picture, and a label for the
// partial result that is shown meanwhile.
void draw_run(Ui& ui, const State& state, ImVec2 origin, ImVec2 size);

}  // namespace attnscope::window
