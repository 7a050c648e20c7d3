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

}  // namespace

double colour_bar_width(const Page& page) {
  return (kGapWidth + kBarWidth + kNumberWidth + kTitleWidth) * page.em();
}

void draw_colour_bar(Page& page, const Box& box, const ColourRange& range,
                     const std::vector<std::string>& titles) {
  constexpr Index kColours = 256;
  const double em = page.em();
  const Box bar{box.x + kGapWidth * em, box.y, kBarWidth * em, box.height};
  HeatMap colours;
  colours.box = bar;
  colours.values = Tensor({kColours, 1});
  for (Index i = 0; i < kColours; ++i) {  // the largest is at the top
    colours.values[i] = 1 - static_cast<float>(i) / (kColours - 1);
  }
  colours.height = kColours;
  colours.width = 1;
  colours.colour_map = range.colour_map;
  page.add(std::move(colours));
  page.add(OutlinedBox{bar, page.theme().line, 1});

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

}  // namespace attnscope
