#include "core/view/parts/legend.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/view/parts/line_breaks.h"

namespace attnscope {
namespace {

constexpr double kSwatch = 0.85;    // em
constexpr double kSwatchGap = 0.4;  // em between swatch and text
constexpr double kEntryGap = 1.2;   // em between entries
constexpr double kLine = 1.45;      // em from line to line

// Boxes of the entries, relative to (0, 0).
std::vector<Box> boxes_of(const Page& page, const std::vector<LegendEntry>& entries, double width) {
  const double em = page.em();
  std::vector<double> widths;
  for (const LegendEntry& entry : entries) {
    widths.push_back((kSwatch + kSwatchGap) * em + page.width_of(entry.text, page.small()));
  }
  return wrap_boxes(widths, {width, kEntryGap * em, kLine * em, kLine * em});
}

}  // namespace

double legend_height(const Page& page, const std::vector<LegendEntry>& entries, double width) {
  const std::vector<Box> boxes = boxes_of(page, entries, width);
  return boxes.empty() ? 0 : boxes.back().bottom();
}

std::vector<Box> draw_legend(Page& page, const std::vector<LegendEntry>& entries, const Box& box) {
  std::vector<Box> boxes = boxes_of(page, entries, box.width);
  const double em = page.em(), side = kSwatch * em;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Box& place = boxes[i];
    place.x += box.x;
    place.y += box.y;
    if (place.bottom() > box.bottom() + 1 || place.width < side) {
      place = {};
      continue;
    }
    const double middle = place.y + place.height / 2;
    const Box swatch{place.x, middle - side / 2, side, side};
    if (entries[i].tick) {
      page.add(Line{{{swatch.x, middle}, {swatch.right(), middle}}, entries[i].colour, 1.5});
    } else if (entries[i].off) {
      page.add(OutlinedBox{swatch, entries[i].colour, 1});
    } else {
      page.add(FilledBox{swatch, entries[i].colour, 0.15 * em});
    }
    const double text_x = place.x + side + kSwatchGap * em;
    const std::string text = page.ellipsised(entries[i].text, page.small(), place.right() - text_x);
    if (entries[i].off) {
      page.faint_text({text_x, middle}, text, page.small());
    } else {
      page.text({text_x, middle}, text, page.small());
    }
  }
  return boxes;
}

Colour query_colour(const Theme& theme) {
  return theme.is_dark() ? Colour{255, 163, 102, 255} : Colour{176, 72, 10, 255};
}

Colour key_colour(const Theme& theme) {
  return theme.is_dark() ? Colour{95, 214, 196, 255} : Colour{11, 110, 99, 255};
}

Colour head_colour(Index head) {
  // Heads beyond the palette get darker and lighter variants of its colours. A shade is a fraction
  // of white or, if negative, of black.
  constexpr Colour kBlack{0, 0, 0, 255}, kWhite{255, 255, 255, 255};
  constexpr std::array<double, 5> kShades = {0, -0.4, 0.35, -0.6, 0.55};
  const ColourMap& map = colour_map(kCategories);
  static const auto kPalette = static_cast<std::size_t>(  // number of distinct colours of the map
      std::find(map.colours.begin() + 1, map.colours.end(), map.colours.front()) -
      map.colours.begin());
  const auto n = static_cast<std::size_t>(head);
  const double shade = kShades[n / kPalette % kShades.size()];
  return blend(map.colours[n % kPalette], shade < 0 ? kBlack : kWhite, std::abs(shade));
}

}  // namespace attnscope
