#include "app/window/fade.h"

#include <algorithm>
#include <utility>

namespace attnscope::window {

NavigationState navigation_state(const State& state) {
  const ViewSettings& view = state.session->view;
  return {state.lesson.lesson.get(), state.lesson.step, view.layer, view.head, view.part};
}

bool Fade::start_if_navigated(const NavigationState& current, double seconds, bool is_allowed) {
  const bool is_first = !std::exchange(has_state_, true);
  if (!is_first && current == last_state_) return false;
  last_state_ = current;
  const bool is_quick = is_active_ || seconds - navigated_at_ < kQuickSeconds;
  navigated_at_ = seconds;
  is_active_ = waits_for_run_ = is_allowed && !is_quick && !is_first;
  started_at_ = seconds;
  return is_active_;
}

double Fade::opacity(double seconds, bool is_complete) {
  if (!is_active_) return 0;
  if (waits_for_run_) {
    waits_for_run_ = !is_complete && seconds - started_at_ < kMaxHoldSeconds;
    started_at_ = waits_for_run_ ? started_at_ : seconds;
    return 1;
  }
  const double progress = std::clamp((seconds - started_at_) / kSeconds, 0.0, 1.0);
  is_active_ = progress < 1;
  return 1 - progress * progress * (3 - 2 * progress);
}

bool may_fade(const State& state) {
  const ViewPanel& view = state.view;
  return !state.settings.reduced_motion && state.run.trace != nullptr && !state.dialogs.open() &&
         !state.presentation.is_black && !view.play.is_on && !view.is_panning &&
         view.held_handle < 0;
}

}  // namespace attnscope::window
