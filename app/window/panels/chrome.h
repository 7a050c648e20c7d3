// The frame around the panels: menus, status line, notices, and splitters between panels.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

void draw_menu_bar(Ui& ui, State& state);
void draw_status_line(Ui& ui, State& state);
// Draws a line that offers to restore an unsaved session, if there is one.
void draw_autosave_offer(Ui& ui, State& state);
// Draws errors above the status line.
void draw_notices(Ui& ui, std::vector<Notice>& notices);

// Vertical splitter that changes the `width` of a side panel, in units, within the settings'
// limits. `sign`: 1 if the panel is to the left of the splitter, -1 if to the right.
void draw_splitter(Ui& ui, const char* id, double& width, double sign, float height);

}  // namespace attnscope::window
