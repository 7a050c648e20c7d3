// Draws a TextPanel's text with its cursor and selection, and edits it by this frame's keys,
// characters and mouse.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// As wide as there is space. Returns whether the text changed. `wishes` gets what is copied.
// Without `takes_keys` they are somebody else's: a dialog is open.
bool draw_text_editor(Ui& ui, TextPanel& panel, float height, const char* placeholder,
                      bool takes_keys, Wishes& wishes);

}  // namespace attnscope::window
