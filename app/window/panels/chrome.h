// The frame around the panels: menus, status line, notices, and the splitters between panels.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

void draw_menu_bar(Ui& ui, State& state);
void draw_status_line(Ui& ui, State& state);
// Offers a session that was not saved, in a line of its own; nothing where there is none.
void draw_abandoned(Ui& ui, State& state);
// Errors, above the status line, at the foot of the space that remains.
void draw_notices(Ui& ui, State& state);

// A bar that is dragged sideways; changes `width` (units) within its limits. `sign` is 1 when the
// panel lies to the left of it, -1 to the right.
void draw_splitter(Ui& ui, const char* id, double& width, double sign, float height);

}  // namespace attnscope::window
