#include "app/window/stage.h"

#include <algorithm>
#include <cmath>

#include "app/window/settings.h"
#include "app/window/widgets/fonts.h"

namespace attnscope::window {

double stage_scale(int height, double zoom) {
  // Whole pixels for the text of the picture.
  const double least = height / kStageLines / kLeastLectureSize;
  const double pixels = std::ceil(least * kBodySize * zoom - 1e-9);
  return std::clamp(pixels / kBodySize, kLeastScale, kMostStageScale);
}

std::optional<std::size_t> monitor_of(const ScreenBox& window,
                                      const std::vector<ScreenBox>& monitors) {
  const auto overlap = [](int a, int a_length, int b, int b_length) {
    return static_cast<double>(std::max(0, std::min(a + a_length, b + b_length) - std::max(a, b)));
  };
  std::optional<std::size_t> best;
  double most = -1;
  for (std::size_t i = 0; i < monitors.size(); ++i) {
    const ScreenBox& m = monitors[i];
    const double shared = overlap(window.x, window.width, m.x, m.width) *
                          overlap(window.y, window.height, m.y, m.height);
    if (shared > most) {
      most = shared;
      best = i;
    }
  }
  return best;
}

std::optional<std::size_t> stage_monitor(const ScreenBox& window,
                                         const std::vector<ScreenBox>& monitors, bool lecture) {
  const std::optional<std::size_t> here = monitor_of(window, monitors);
  return lecture && here == 0U && monitors.size() > 1 ? 1 : here;
}

SpeakerPlace speaker_place(const ScreenBox& stage, const std::vector<ScreenBox>& monitors) {
  constexpr double kShare = 0.5;  // of a monitor that is the stage's, too
  const std::optional<std::size_t> of_stage = monitor_of(stage, monitors);
  for (std::size_t i = 0; i < monitors.size(); ++i) {
    if (i != of_stage) return {monitors[i], true};
  }
  const ScreenBox all = of_stage ? monitors[*of_stage] : stage;
  const int width = static_cast<int>(all.width * kShare);
  const int height = static_cast<int>(all.height * kShare);
  return {{all.x + all.width - width, all.y + all.height - height, width, height}, false};
}

}  // namespace attnscope::window
