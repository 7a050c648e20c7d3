// State of the text panel.
#pragma once

#include <optional>
#include <string>

#include "app/window/widgets/text_edit.h"
#include "core/checkpoint/card.h"

namespace attnscope::window {

// Model card, read when the model was selected.
struct CachedModelCard {
  std::string model;
  std::optional<ModelCard> card;  // nullopt: the card is unreadable
};

// Text box with a cursor, drawn by draw_text_editor().
struct TextBox {
  TextEdit edit;
  bool is_focused = false;
  bool was_drawn = false;          // drawn in this frame; otherwise, the editor receives no keys
  double scroll = 0;               // pixels
  bool scrolls_to_cursor = false;  // scroll to the cursor in the next frame
  bool scrolls_to_end = false;     // scroll to the end of the text in the next frame
  bool is_dragging = false;
};

struct TextPanel : TextBox {
  TextBox target, second;  // target text of an encoder-decoder, second sentence of an encoder
  bool is_edited = false;  // edited after the text's last run
  std::optional<CachedModelCard> card;

  bool has_keyboard() const { return is_focused || target.is_focused || second.is_focused; }
  void begin_frame() { was_drawn = target.was_drawn = second.was_drawn = false; }
  void end_frame() {
    for (TextBox* box : {static_cast<TextBox*>(this), &target, &second}) {
      box->is_focused &= box->was_drawn;
    }
  }
};

}  // namespace attnscope::window
