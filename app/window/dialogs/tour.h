// The tour of the first start: five places of the window, pointed out one after the other. It
// leaves the window usable and can be left at any time.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Where the panels are, in pixels: left, top, right, bottom. Filled in by who draws them.
struct Places {
  ImVec4 text, choices, picture, explanation, menu;
};

void draw_tour(Ui& ui, State& state, const Places& places);

}  // namespace attnscope::window
