// Colour legends: swatches with names, wrapped into as many lines as needed.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct LegendEntry {
  Colour colour;
  std::string text;
  bool off = false;   // hidden in the picture; swatch is drawn hollow
  bool tick = false;  // swatch is drawn as a short line
};

double legend_height(const Page& page, const std::vector<LegendEntry>& entries, double width);
// Draws from the top left of `box`. Returns the box of each entry, empty for those that do not fit.
std::vector<Box> draw_legend(Page& page, const std::vector<LegendEntry>& entries, const Box& box);

// Colours that all views share.
Colour query_colour(const Theme& theme);
Colour key_colour(const Theme& theme);
Colour head_colour(Index head);  // categorical; repeats

}  // namespace attnscope
