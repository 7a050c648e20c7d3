// Draws a text box with cursor and selection, and edits its text with this frame's input.
#pragma once

#include <optional>
#include <string>

#include "app/window/panels/text_panel_state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

struct TextEditorOptions {
  const char* id;           // reported for tests
  const char* placeholder;  // visible while the text is empty
  double lines;             // visible lines
  bool keeps_line_breaks;   // false: Enter ends the input
  bool has_keyboard;        // false while an open dialog has the keyboard
};

// Fills the available width. Returns true if the text changed. Copied text goes to `clipboard`.
bool draw_text_editor(Ui& ui, TextBox& box, const TextEditorOptions& options,
                      std::optional<std::string>& clipboard);

}  // namespace attnscope::window
