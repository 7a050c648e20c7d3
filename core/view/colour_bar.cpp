#include "core/view/colour_bar.h"

#include <algorithm>
#include <cmath>

#include "core/figure/ticks.h"

namespace attnscope {
namespace {

constexpr double kGapWidth = 1.0;      // em
constexpr double kBarWidth = 0.95;     // em
constexpr double kNumberWidth = 2.9;   // em
constexpr double kTitleWidth = 1.5;    // em
constexpr double kTickDistance = 2.6;  // em

// The range's colours in `box`, the largest at the top or on the right.
void draw_colours(Page& page, const Box& box, const std::string& colour_map, bool level) {
  constexpr Index kColours = 256;
  HeatMap colours;
  colours.box = box;
  colours.values = Tensor(level ? Shape{1, kColours} : Shape{kColours, 1});
  for (Index i = 0; i < kColours; ++i) {
    const float share = static_cast<float>(i) / (kColours - 1);
    colours.values[i] = level ? share : 1 - share;
  }
  colours.height = static_cast<double>(colours.values.dim(0));
  colours.width = static_cast<double>(colours.values.dim(1));
  colours.colour_map = colour_map;
  page.add(std::move(colours));
  page.add(OutlinedBox{box, page.theme().line, 1});
}

}  // namespace

double colour_bar_width(const Page& page) {
  return (kGapWidth + kBarWidth + kNumberWidth + kTitleWidth) * page.em();
}

void draw_colour_bar(Page& page, const Box& box, const ColourRange& range,
                     const std::vector<std::string>& titles) {
  const double em = page.em();
  const Box bar{box.x + kGapWidth * em, box.y, kBarWidth * em, box.height};
  draw_colours(page, bar, range.colour_map, false);

  const int count = std::max(1, static_cast<int>(bar.height / (kTickDistance * em)));
  const std::vector<double> ticks = round_ticks(range.least, range.most, count);
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : range.most - range.least;
  const double size = page.small();
  for (const double tick : ticks) {
    const double y = bar.bottom() - (tick - range.least) / (range.most - range.least) * bar.height;
    page.add(Line{{{bar.right(), y}, {bar.right() + 0.3 * em, y}}, page.theme().line, 1});
    page.text({bar.right() + 0.5 * em, y},
              page.ellipsised(tick_text(tick, step), size, (kNumberWidth - 0.5) * em), size);
  }
  const double middle = bar.right() + (kNumberWidth + kTitleWidth / 2) * em;
  page.faint_text({middle, bar.y + bar.height / 2}, page.fitting(titles, em, bar.height), em,
                  Align::Middle, 90);
}

namespace {
constexpr double kLevelBar = 0.7;       // em: its height
constexpr double kLevelLine = 1.25;     // em: numbers, and the title below them
constexpr double kLevelDistance = 4.2;  // em from number to number, at least
}  // namespace

double level_colour_bar_height(const Page& page) {
  return (kLevelBar + 2 * kLevelLine) * page.em();
}

void draw_level_colour_bar(Page& page, Point at, double width, const ColourRange& range,
                           const std::vector<std::string>& titles) {
  const double em = page.em(), size = page.small();
  const Box bar{at.x, at.y, width, kLevelBar * em};
  draw_colours(page, bar, range.colour_map, true);
  const int count = std::max(1, static_cast<int>(width / (kLevelDistance * em)));
  const std::vector<double> ticks = round_ticks(range.least, range.most, count);
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : range.most - range.least;
  double free_from = bar.x - em;
  for (const double tick : ticks) {
    const std::string text = tick_text(tick, step);
    const double half = page.width_of(text, size) / 2;
    const double x = bar.x + (tick - range.least) / (range.most - range.least) * width;
    // The numbers at the ends stay within the bar.
    const double middle = std::clamp(x, bar.x + half, std::max(bar.x + half, bar.right() - half));
    if (middle - half < free_from || middle + half > bar.right() + 1) continue;
    free_from = middle + half + 0.4 * em;
    page.add(Line{{{x, bar.bottom()}, {x, bar.bottom() + 0.25 * em}}, page.theme().line, 1});
    page.text({middle, bar.bottom() + (0.3 + kLevelLine / 2) * em}, text, size, Align::Middle);
  }
  page.faint_text({bar.x + width / 2, bar.bottom() + (0.15 + 1.5 * kLevelLine) * em},
                  page.fitting(titles, size, width), size, Align::Middle);
}

}  // namespace attnscope
