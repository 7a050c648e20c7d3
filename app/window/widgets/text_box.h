// State of a text box with a cursor, drawn by draw_text_editor().
#pragma once

#include "app/window/widgets/text_edit.h"

namespace attnscope::window {

struct TextBox {
  TextEdit edit;
  bool is_focused = false;
  bool was_drawn = false;          // drawn in this frame; otherwise, the editor receives no keys
  double scroll = 0;               // pixels, downwards or, in a box of one line, sideways
  bool scrolls_to_cursor = false;  // scroll to the cursor in the next frame
  bool scrolls_to_end = false;     // scroll to the end of the text in the next frame
  bool is_dragging = false;
};

}  // namespace attnscope::window
