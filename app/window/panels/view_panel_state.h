// State of the view panel: pointer, handles and animation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment/session.h"
#include "core/view/view.h"

namespace attnscope::window {

// A running animation, see play.h.
struct PlayState {
  bool is_on = false;
  std::string view;    // id of the view in which it was started
  double value = 0;    // value of the animated parameter
  double seconds = 0;  // time of the last step on the window's clock
  // True if further changes by the animation amend the last undo step.
  bool is_recorded = false;
};

struct ViewPanel {
  std::optional<Hit> hit;          // object under the pointer
  std::optional<Point> pointer;    // pointer position relative to the picture, in units
  std::optional<Point> pinned_at;  // position of the last click that set or cleared a pin
  bool is_panning = false;
  int held_handle = -1;  // pressed handle of the layout; -1: none
  bool has_handle_moved = false;
  std::vector<Point> stroke;      // pointer positions while a handle is held
  decltype(Handle::stroke) draw;  // stroke function of the pressed handle
  std::shared_ptr<const Session> before_stroke;
  PlayState play;
  bool shift = false;        // Shift is held, outside of text fields
  bool actual_size = false;  // requested zoom; applied once the plot's size is known
  std::string pending;       // computation in progress, see ViewLayout::pending
};

}  // namespace attnscope::window
