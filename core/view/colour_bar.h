// The key from colours to numbers.
#pragma once

#include <string>
#include <vector>

#include "core/view/page.h"

namespace attnscope {

struct ColourRange {
  double least = 0, most = 1;
  std::string colour_map = "viridis";
};

// The space that a bar with numbers and a title takes.
double colour_bar_width(const Page& page);
// A bar along the left of `box`, as high as it, with numbers, and the first title that fits upright
// beside them.
void draw_colour_bar(Page& page, const Box& box, const ColourRange& range,
                     const std::vector<std::string>& titles);

// A level bar with numbers below it and the first title that fits below these.
double level_colour_bar_height(const Page& page);
void draw_level_colour_bar(Page& page, Point at, double width, const ColourRange& range,
                           const std::vector<std::string>& titles);

}  // namespace attnscope
