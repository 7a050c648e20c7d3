// State of the text panel.
#pragma once

#include <optional>
#include <string>

#include "app/window/widgets/text_box.h"
#include "core/checkpoint/card.h"

namespace attnscope::window {

// Model card, read when the model was selected.
struct CachedModelCard {
  std::string model;
  std::optional<ModelCard> card;  // nullopt: the card is unreadable
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
