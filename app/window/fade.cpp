#include "app/window/fade.h"

#include <algorithm>
#include <utility>

namespace attnscope::window {

NavigationState navigation_state(const State& state) {
  const ViewSettings& view = state.session->view;
  return {state.lesson.lesson.get(), state.lesson.step, view.layer, view.head, view.part};
}

bool Fade::start_if_navigated(const NavigationState& now, double seconds, bool allowed) {
  const bool first = !std::exchange(has_state_, true);
  if (!first && now == last_) return false;
  last_ = now;
  const bool is_quick = on_ || seconds - navigated_at_ < kQuickSeconds;
  navigated_at_ = seconds;
  on_ = waits_for_run_ = allowed && !is_quick && !first;
  started_at_ = seconds;
  return on_;
}

double Fade::opacity(double seconds, bool current) {
  if (!on_) return 0;
  if (waits_for_run_) {
    waits_for_run_ = !current && seconds - started_at_ < kMaxHoldSeconds;
    started_at_ = waits_for_run_ ? started_at_ : seconds;
    return 1;
  }
  const double done = std::clamp((seconds - started_at_) / kSeconds, 0.0, 1.0);
  on_ = done < 1;
  return 1 - done * done * (3 - 2 * done);
}

bool may_fade(const State& state) {
  const ViewPanel& view = state.view;
  return !state.settings.reduced_motion && state.run.trace != nullptr && !state.dialogs.open() &&
         !state.presentation.black && !view.play.on && !view.panning && view.held_handle < 0;
}

}  // namespace attnscope::window
