// In front of an audience: how large everything is, and which screen is whose. No drawing here.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/view/view.h"

namespace attnscope::window {

// Pixels per unit on a stage that is so many pixels high: what is read there, kLeastLectureSize
// units and more, is at least 1/28 of it. `zoom`: what a person set in place of what the monitor
// asks for.
double stage_scale(int height, double zoom = 1);
inline constexpr double kStageLines = 28;

// A view's picture in front of an audience: in the largest of a few sizes of letters that leaves
// the cells at least half of the shorter side; where none does, in smaller ones only if the cells
// grow by it. A view that has no space at all gets the first size that leaves some.
ViewLayout lay_out_on_stage(const View& view, ViewInput input);

// In screen coordinates.
struct ScreenBox {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const ScreenBox&) const = default;
};

// Of the monitors the one that shows most of the window; without any, nothing.
std::optional<std::size_t> monitor_of(const ScreenBox& window,
                                      const std::vector<ScreenBox>& monitors);

// Which monitor the stage fills, the first of which is the desktop's: where the window is, but for
// a lecture rather another than the desktop's, as presentation programs have it.
std::optional<std::size_t> stage_monitor(const ScreenBox& window,
                                         const std::vector<ScreenBox>& monitors, bool lecture);

// Where the speaker's window goes: over a monitor that is not the stage's, else into the lower
// right of the only one.
struct SpeakerPlace {
  ScreenBox box;
  bool own_monitor = false;
};
SpeakerPlace speaker_place(const ScreenBox& stage, const std::vector<ScreenBox>& monitors);

}  // namespace attnscope::window
