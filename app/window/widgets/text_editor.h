// Draws a text box with cursor and selection, and edits its text with this frame's input. Text of
// any script is shaped (screen_text.h).
#pragma once

#include <optional>
#include <string>

#include "app/window/widgets/text_box.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Lines of a box and the keys that it uses.
enum class TextLines {
  Wrapped,       // Return adds a line break
  WrappedInput,  // Return ends the input; pasted line breaks become spaces
  Single         // a field: scrolls sideways and leaves Return, Escape, Up and Down unhandled
};

struct TextEditorOptions {
  const char* id;           // reported for tests
  const char* placeholder;  // visible while the text is empty
  double visible_lines;     // ignored for a single line
  TextLines lines;
  bool has_keyboard;        // false while an open dialog has the keyboard
  bool is_invalid = false;  // draws the text in the colour of errors
};

// Fills the available width. Returns true if the text changed. Copied text goes to `clipboard`.
bool draw_text_editor(Ui& ui, TextBox& box, const TextEditorOptions& options,
                      std::optional<std::string>& clipboard);

}  // namespace attnscope::window
