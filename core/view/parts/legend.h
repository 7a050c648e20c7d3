// What colours stand for: swatches with names, side by side in as many lines as it takes.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct LegendEntry {
  Colour colour;
  std::string text;
  bool off = false;   // not shown at the moment: a hollow swatch
  bool tick = false;  // a short line in place of the swatch
};

double legend_height(const Page& page, const std::vector<LegendEntry>& entries, double width);
// From the box's top left. Returns each entry's place; of those that do not fit an empty one.
std::vector<Box> draw_legend(Page& page, const std::vector<LegendEntry>& entries, const Box& box);

// Colours of what views show again and again.
Colour query_colour(const Theme& theme);
Colour key_colour(const Theme& theme);
Colour head_colour(Index head);  // of heads beside each other; they repeat

}  // namespace attnscope
