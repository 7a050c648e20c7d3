// Timing of the cross-fade from the previous picture to the new one when the user navigates between
// lesson steps, layers and heads. No drawing here.
#pragma once

#include "app/window/state.h"

namespace attnscope::window {

// Position in a lesson or trace; a change of the position is a navigation.
struct NavigationState {
  const Lesson* lesson = nullptr;
  std::size_t step = 0;
  Index layer = 0, head = 0;
  PartChoice part;
  bool operator==(const NavigationState&) const = default;
};
NavigationState navigation_state(const State& state);

class Fade {
 public:
  // Durations in seconds. Navigating during a fade, or within kQuickSeconds after the last
  // navigation, shows the new picture immediately.
  static constexpr double kSeconds = 0.25, kQuickSeconds = 0.4;
  // Maximum time that the previous picture stays opaque while the new run is computed.
  static constexpr double kMaxHoldSeconds = 0.3;

  // Call once per frame, before drawing. True if a fade starts: copy the current screen then.
  bool start_if_navigated(const NavigationState& current, double seconds, bool is_allowed);
  // Opacity of the previous picture in this frame, from 1 to 0. `is_complete`: the run of the shown
  // session is complete.
  double opacity(double seconds, bool is_complete);
  bool is_active() const { return is_active_; }
  void end() { is_active_ = false; }

 private:
  NavigationState last_state_;
  bool has_state_ = false, is_active_ = false, waits_for_run_ = false;
  double navigated_at_ = 0, started_at_ = 0;  // seconds
};

// False while dragging, during playback, in dialogs, on a black screen and with reduced motion.
bool may_fade(const State& state);

}  // namespace attnscope::window
