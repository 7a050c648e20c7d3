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
  std::optional<ModelCard> card;  // none: unreadable
};

struct TextPanel {
  TextEdit edit;
  bool is_focused = false;
  bool was_drawn = false;          // drawn in this frame; otherwise, the editor receives no keys
  double scroll = 0;               // pixels
  bool scrolls_to_cursor = false;  // scroll to the cursor in the next frame
  bool scrolls_to_end = false;     // scroll to the end of the text in the next frame
  bool is_dragging = false;
  bool is_edited = false;  // edited after the text's last run
  std::optional<CachedModelCard> card;
};

}  // namespace attnscope::window
