// Presentation mode: sizes and the assignment of screens. No drawing here.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/view/view.h"

namespace attnscope::window {

// Pixels per unit on a screen `height` pixels high: text of kMinLectureSize units or more is at
// least 1/28 of the height. `zoom`: factor set by the user.
double presentation_scale(int height, double zoom = 1);
inline constexpr double kPresentationLines = 28;

// Lays out a view for an audience, with the largest font size that leaves the plot at least half of
// the canvas's shorter side. If there is none, uses the largest size that fits, or the smallest one
// if it enlarges the plot clearly. If no size fits, uses an even smaller one.
ViewLayout lay_out_for_presentation(const View& view, ViewInput input);

// Box in screen coordinates.
struct ScreenBox {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const ScreenBox&) const = default;
};

// The monitor that shows most of the window; nullopt without monitors.
std::optional<std::size_t> monitor_of(const ScreenBox& window,
                                      const std::vector<ScreenBox>& monitors);

// The monitor that the presentation fills: that of the window. A lecture on the primary (first)
// monitor moves to the second one, if any, as in presentation programs.
std::optional<std::size_t> presentation_monitor(const ScreenBox& window,
                                                const std::vector<ScreenBox>& monitors,
                                                bool is_lecture);

// Place of the speaker's window: another monitor than the presentation's, else the lower right
// corner of the only monitor.
struct SpeakerPlace {
  ScreenBox box;
  bool has_own_monitor = false;
};
SpeakerPlace speaker_place(const ScreenBox& presentation, const std::vector<ScreenBox>& monitors);

}  // namespace attnscope::window
