// Presentation mode: sizes and the assignment of screens. No drawing here.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/view/view.h"

namespace attnscope::window {

// Pixels per unit on a screen `height` pixels high. Text of kMinLectureSize units takes at least
// 1/28 of this height. `zoom`: factor set by the user.
double presentation_scale(int height, double zoom = 1);
inline constexpr double kPresentationLines = 28;

// Lays out a view for an audience, with labels of at least 22 pixels on a screen of 1080 lines.
// Uses the largest font size at which the shorter side of the plot is at least half of the shorter
// side of the canvas. If no size achieves this, uses the smallest one if it makes the plot clearly
// larger, or else the largest one that fits. If none of these sizes fits, uses smaller ones.
ViewLayout lay_out_for_presentation(const View& view, const ViewInput& input);

// Box in screen coordinates.
struct ScreenBox {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const ScreenBox&) const = default;
};

// The monitor that shows most of the window; nullopt without monitors.
std::optional<std::size_t> monitor_of(const ScreenBox& window,
                                      const std::vector<ScreenBox>& monitors);

// The monitor that the presentation fills: the window's monitor. As in presentation programs, a
// lecture on the primary (first) monitor moves to the second monitor, if any.
std::optional<std::size_t> presentation_monitor(const ScreenBox& window,
                                                const std::vector<ScreenBox>& monitors,
                                                bool is_lecture);

// Place of the speaker's window: a monitor other than the presentation's, or the lower right corner
// of the only monitor.
struct SpeakerPlace {
  ScreenBox box;
  bool has_own_monitor = false;
};
SpeakerPlace speaker_place(const ScreenBox& presentation, const std::vector<ScreenBox>& monitors);

}  // namespace attnscope::window
