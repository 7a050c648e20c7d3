// Draws a TextPanel's text with cursor and selection, and edits it with this frame's input.
#pragma once

#include <optional>
#include <string>

#include "app/window/panels/text_panel_state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Fills the available width. Returns true if the text changed. Copied text goes to `clipboard`.
// `has_keyboard`: false while an open dialog has the keyboard.
bool draw_text_editor(Ui& ui, TextPanel& panel, float height, const char* placeholder,
                      bool has_keyboard, std::optional<std::string>& clipboard);

}  // namespace attnscope::window
