// Introductory tour at the first start: explains five places of the window, which remains usable.
// The user can leave it at any time.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Boxes of the panels in pixels: left, top, right, bottom. Set when the panels are drawn.
struct PanelBoxes {
  ImVec4 text, choices, picture, explanation, menu;
};

void draw_tour(Ui& ui, State& state, const PanelBoxes& places);

}  // namespace attnscope::window
