#include "app/window/presentation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/window/settings.h"
#include "app/window/widgets/fonts.h"
#include "core/view/parts/no_space.h"

namespace attnscope::window {

double presentation_scale(int height, double zoom) {
  // Rounds the size of body text up to whole pixels.
  const double min_scale = height / kPresentationLines / kMinLectureSize;
  const double pixels = std::ceil(min_scale * kBodySize * zoom - 1e-9);
  return std::clamp(pixels / kBodySize, kMinScale, kMaxPresentationScale);
}

namespace {

constexpr std::array<double, 2> kFontSizes = {12.1, 10.5};  // units
// Font size of the smallest text, in units: 22 pixels on a screen of 1080 lines.
constexpr double kMinLabelSize = 10;
constexpr std::array<double, 2> kSmallFontSizes = {9, 7.5};  // units; used if no larger size fits

// Session with settings for an audience. Compare shows two large maps, unless the user has selected
// its content. Flow omits panels rather than using small text.
Session for_audience(const Session& session) {
  Session result = session;
  const Values values = view_values(session.view, "compare");
  if (session.view.id == "compare" && values.choice("show") == "all") {
    set_view_value(result.view, "compare", "show", std::string("maps"));
  }
  if (session.view.id == "flow") set_view_value(result.view, "flow", "text", std::string("large"));
  return result;
}

double shorter_side(const Box& plot) {
  return std::min(plot.width, plot.height);
}

}  // namespace

ViewLayout lay_out_for_presentation(const View& view, const ViewInput& of_window) {
  constexpr double kMinPlotFraction = 0.5, kMinGrowth = 1.15;
  const double min_side =
      kMinPlotFraction * std::min(of_window.canvas.width, of_window.canvas.height);
  const Session session = for_audience(of_window.session);
  ViewInput input{.trace = of_window.trace,
                  .session = session,
                  .findings = of_window.findings,
                  .canvas = of_window.canvas,
                  .figure = of_window.figure,
                  .interaction = of_window.interaction,
                  .cache = of_window.cache,
                  .merged = of_window.merged};
  input.canvas.min_font_size = kMinLabelSize;
  std::optional<ViewLayout> first;
  ViewLayout layout;
  for (const double size : kFontSizes) {
    input.canvas.font_size = size;
    layout = view.lay_out(input);
    if (lacks_space(layout.refusal)) continue;
    if (shorter_side(layout.plot) >= min_side) return layout;
    if (!first) first = layout;
  }
  if (first) {
    const double min_grown_side = kMinGrowth * shorter_side(first->plot);
    const bool is_clearly_larger =
        !lacks_space(layout.refusal) && shorter_side(layout.plot) > min_grown_side;
    return is_clearly_larger ? layout : *first;
  }
  input.canvas.min_font_size = 0;
  for (const double size : kSmallFontSizes) {
    input.canvas.font_size = size;
    layout = view.lay_out(input);
    if (!lacks_space(layout.refusal)) break;
  }
  return layout;
}

std::optional<std::size_t> monitor_of(const ScreenBox& window,
                                      const std::vector<ScreenBox>& monitors) {
  const auto overlap = [](int a, int a_length, int b, int b_length) {
    return static_cast<double>(std::max(0, std::min(a + a_length, b + b_length) - std::max(a, b)));
  };
  std::optional<std::size_t> best;
  double max_shared_area = -1;
  for (std::size_t i = 0; i < monitors.size(); ++i) {
    const ScreenBox& monitor = monitors[i];
    const double shared_area = overlap(window.x, window.width, monitor.x, monitor.width) *
                               overlap(window.y, window.height, monitor.y, monitor.height);
    if (shared_area > max_shared_area) {
      max_shared_area = shared_area;
      best = i;
    }
  }
  return best;
}

std::optional<std::size_t> presentation_monitor(const ScreenBox& window,
                                                const std::vector<ScreenBox>& monitors,
                                                bool is_lecture) {
  const std::optional<std::size_t> current = monitor_of(window, monitors);
  return is_lecture && current == 0U && monitors.size() > 1 ? 1 : current;
}

SpeakerPlace speaker_place(const ScreenBox& presentation, const std::vector<ScreenBox>& monitors) {
  constexpr double kSideFraction = 0.5;  // relative to a monitor shared with the presentation
  const std::optional<std::size_t> occupied = monitor_of(presentation, monitors);
  for (std::size_t i = 0; i < monitors.size(); ++i) {
    if (i != occupied) return {monitors[i], true};
  }
  const ScreenBox area = occupied ? monitors[*occupied] : presentation;
  const int width = static_cast<int>(area.width * kSideFraction);
  const int height = static_cast<int>(area.height * kSideFraction);
  return {{area.x + area.width - width, area.y + area.height - height, width, height}, false};
}

}  // namespace attnscope::window
