// App and the screens: the stage that fills one, the speaker's window on another.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/window/app.h"
#include "core/base/error.h"

namespace attnscope::window {

void App::update_speaker() {
  LessonState& lesson = state_.lesson;
  if (speaker_ != nullptr && speaker_->closed()) lesson.notes = false;
  const bool wanted = lesson.notes && lesson.lesson != nullptr;
  if (wanted == (speaker_ != nullptr)) return;
  settle_ = kSettleFrames;  // with a tick for it, or without
  if (!wanted) {
    speaker_.reset();
    return;
  }
  try {
    speaker_ = std::make_unique<SpeakerWindow>(platform_, options_.report);
  } catch (const WorkError& e) {
    lesson.notes = false;
    state_.complain(e.what());
  }
}

// Where something changed, or the clock has gone on.
void App::draw_speaker(bool anew) {
  if (speaker_ == nullptr) return;
  const double elapsed = std::floor(state_.seconds - state_.lesson.began);
  const bool pending = speaker_->pending();
  if (!anew && !pending && elapsed == speaker_drawn_) return;
  speaker_drawn_ = elapsed;
  try {
    speaker_->frame(state_, *panels_.steps);
  } catch (const WorkError& e) {  // the lecture goes on without it
    state_.lesson.notes = false;
    speaker_.reset();
    settle_ = kSettleFrames;
    state_.complain(std::string(e.what()) + "; the speaker's window is closed");
    return;
  }
  if (pending) settle_ = kSettleFrames;  // what was done there is seen here
}

// Into the lecture with all of the screen, and back to the window where it was one.
void App::update_stage() {
  if (std::exchange(on_stage_, state_.presenting) == state_.presenting) return;
  if (on_stage_) {
    const bool lecture = state_.lesson.lesson != nullptr;
    const std::vector<ScreenBox> monitors = platform_.monitors();
    state_.monitors = monitors.size();
    stage_filled_ = !platform_.is_full_screen();
    if (stage_filled_) platform_.fill(stage_monitor(platform_.place(), monitors, lecture));
    // As presentation programs do where the speaker has a monitor.
    stage_opened_notes_ = lecture && monitors.size() > 1 && !state_.lesson.notes;
    state_.lesson.notes |= stage_opened_notes_;
  } else {
    if (stage_filled_ && platform_.is_full_screen()) platform_.toggle_full_screen();
    if (std::exchange(stage_opened_notes_, false)) state_.lesson.notes = false;
  }
  input_.redraw();
}

// The stage on the other monitor; the speaker's window makes room for it.
void App::swap_screens() {
  const std::vector<ScreenBox> monitors = platform_.monitors();
  const std::optional<std::size_t> here = monitor_of(platform_.place(), monitors);
  if (!here || !platform_.is_full_screen()) return;
  platform_.fill((*here + 1) % monitors.size());
  speaker_.reset();  // comes back at its new place
  input_.redraw();
}

}  // namespace attnscope::window
