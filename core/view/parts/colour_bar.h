// Mapping of numbers to colours, and the colour bar that explains it.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

// Position of numbers along a colour map: 0 at the least, 1 at the most. Diverging maps have zero
// in the middle and are symmetric.
struct ColourRange {
  enum class Scale { Linear, Log, Rank };

  double least = 0, most = 1;  // diverging: least = -most
  std::string colour_map = "viridis";
  Scale scale = Scale::Linear;
  double smallest = 1e-4;  // Log: magnitude at the lower end, or next to the middle
  std::vector<float>
      ranked{};  // Rank: magnitudes at equal steps of rank, ascending; see sampled_ranks()

  double position(double number) const;  // in [0, 1], clamped; NaN stays NaN

  bool passed = false;  // some numbers exceed `most` and share its colour
};

// Magnitudes of the numbers that are neither 0 nor NaN, at equal steps of rank.
std::vector<float> sampled_ranks(const Tensor& numbers);

// Numbers for a heat map, whose linear scale from `least` to `most` gives them the colours of
// `range`. The numbers of a linear range are unchanged.
struct Scaled {
  Tensor numbers;
  double least = 0, most = 1;
};
Scaled scaled(const Tensor& numbers, const ColourRange& range);

struct Tick {
  double position = 0;  // along the colours, in [0, 1]
  std::string text;
};
// About `count` ticks from the lower end; always enough to show the extent of a linear range and
// its minimum.
std::vector<Tick> ticks_of(const ColourRange& range, int count);

// Width of a bar with numbers and a title.
double colour_bar_width(const Page& page);
// Draws a vertical bar along the left of `box` with complete numbers and the first title that fits
// next to them.
void draw_colour_bar(Page& page, const Box& box, const ColourRange& range,
                     const std::vector<std::string>& titles);

// The same for a horizontal bar, with numbers and title below it.
double level_colour_bar_height(const Page& page);
void draw_level_colour_bar(Page& page, Point at, double width, const ColourRange& range,
                           const std::vector<std::string>& titles);

}  // namespace attnscope
