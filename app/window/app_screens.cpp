// App and its screens: the presentation fills one, the speaker's window another.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/window/app.h"
#include "core/base/error.h"

namespace attnscope::window {

void App::update_speaker() {
  LessonState& lesson = state_.lesson;
  if (speaker_ != nullptr && speaker_->is_closed()) lesson.notes = false;
  const bool is_wanted = lesson.notes && lesson.lesson != nullptr;
  if (is_wanted == (speaker_ != nullptr)) return;
  frames_left_ = kSettleFrames;  // the tick of the menu item changes
  if (!is_wanted) {
    speaker_.reset();
    return;
  }
  try {
    speaker_ = std::make_unique<SpeakerWindow>(platform_, options_.report);
  } catch (const WorkError& e) {
    lesson.notes = false;
    state_.report_error(e.what());
  }
}

// Draws if something changed or the clock has advanced.
void App::draw_speaker(bool redraws) {
  if (speaker_ == nullptr) return;
  const double elapsed = std::floor(state_.seconds - state_.lesson.clock_start);
  const bool has_input = speaker_->pending();
  if (!redraws && !has_input && elapsed == speaker_drawn_at_) return;
  speaker_drawn_at_ = elapsed;
  try {
    speaker_->draw_frame(state_, *panels_.steps);
  } catch (const WorkError& e) {  // the lecture continues without notes
    state_.lesson.notes = false;
    speaker_.reset();
    frames_left_ = kSettleFrames;
    state_.report_error(std::string(e.what()) + "; the speaker's window is closed");
    return;
  }
  if (has_input) frames_left_ = kSettleFrames;  // input for the speaker changes this window
}

// A presentation fills a monitor. Afterwards, a window that was not full screen before is restored.
void App::update_presentation() {
  if (std::exchange(is_presenting_, state_.presentation.is_on) == state_.presentation.is_on) return;
  if (is_presenting_) {
    const bool is_lecture = state_.lesson.lesson != nullptr;
    const std::vector<ScreenBox> monitors = platform_.monitors();
    state_.presentation.monitors = monitors.size();
    presentation_filled_screen_ = !platform_.is_full_screen();
    if (presentation_filled_screen_)
      platform_.fill_monitor(presentation_monitor(platform_.window_box(), monitors, is_lecture));
    // As in presentation programs, notes open if the speaker has a separate monitor.
    presentation_opened_notes_ = is_lecture && monitors.size() > 1 && !state_.lesson.notes;
    state_.lesson.notes |= presentation_opened_notes_;
  } else {
    if (presentation_filled_screen_ && platform_.is_full_screen()) platform_.toggle_full_screen();
    if (std::exchange(presentation_opened_notes_, false)) state_.lesson.notes = false;
  }
  input_.redraw();
}

// Moves the presentation to the next monitor and reopens the speaker's window elsewhere.
void App::swap_screens() {
  const std::vector<ScreenBox> monitors = platform_.monitors();
  const std::optional<std::size_t> current = monitor_of(platform_.window_box(), monitors);
  if (!current || !platform_.is_full_screen()) return;
  platform_.fill_monitor((*current + 1) % monitors.size());
  speaker_.reset();  // update_speaker() reopens the window
  input_.redraw();
}

}  // namespace attnscope::window
