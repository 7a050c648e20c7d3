#include "app/window/stage.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/window/settings.h"
#include "app/window/widgets/fonts.h"
#include "core/view/parts/no_space.h"

namespace attnscope::window {

double stage_scale(int height, double zoom) {
  // Whole pixels for the text of the picture.
  const double least = height / kStageLines / kLeastLectureSize;
  const double pixels = std::ceil(least * kBodySize * zoom - 1e-9);
  return std::clamp(pixels / kBodySize, kLeastScale, kMostStageScale);
}

namespace {

constexpr std::array<double, 3> kLetterSizes = {12, 10.5, 9};
constexpr double kLastResort = 7.5;  // where there is no space otherwise

double shorter_side(const Box& plot) {
  return std::min(plot.width, plot.height);
}

}  // namespace

ViewLayout lay_out_on_stage(const View& view, ViewInput input) {
  constexpr double kRoomy = 0.5, kWorthIt = 1.15;
  const double wanted = kRoomy * std::min(input.width, input.height);
  std::optional<ViewLayout> first;
  ViewLayout layout;
  for (const double size : kLetterSizes) {
    input.font_size = size;
    layout = view.lay_out(input);
    if (lacks_space(layout.refusal)) continue;
    if (shorter_side(layout.plot) >= wanted) return layout;
    if (!first) first = layout;
  }
  if (first) {
    const double grown = kWorthIt * shorter_side(first->plot);
    const bool worth_it = !lacks_space(layout.refusal) && shorter_side(layout.plot) > grown;
    return worth_it ? layout : *first;
  }
  input.font_size = kLastResort;
  return view.lay_out(input);
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
