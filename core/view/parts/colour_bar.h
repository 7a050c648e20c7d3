// Mapping of numbers to colours, and the colour bar that explains it.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

// Mapping of numbers to positions along a colour map, from 0 (minimum) to 1 (maximum). Diverging
// maps have zero in the middle and are symmetric.
struct ColourRange {
  enum class Scale { Linear, Log, Rank };

  double least = 0, most = 1;  // diverging: least = -most
  std::string colour_map = "viridis";
  Scale scale = Scale::Linear;
  double smallest = 1e-4;  // Log: magnitude at the lower end (diverging: in the middle)
  std::vector<float>
      ranked{};  // Rank: magnitudes at equal steps of rank, ascending; see sampled_ranks()

  double position(double number) const;  // in [0, 1], clamped; NaN stays NaN

  bool passed = false;  // some numbers exceed `most` and share its colour
};

// Magnitudes of the numbers that are neither 0 nor NaN, at equal steps of rank.
std::vector<float> sampled_ranks(const Tensor& numbers);

// Numbers for a HeatMap, converted so that its linear scale from `least` to `most` assigns the
// colours of `range` to them. Unchanged if the range is linear.
struct Scaled {
  Tensor numbers;
  double least = 0, most = 1;
};
Scaled scaled(const Tensor& numbers, const ColourRange& range);

struct Tick {
  double position = 0;  // position along the colour map, in [0, 1]
  std::string text;
};
// About `count` ticks, ascending; for a linear range at least two, including a nonzero minimum.
std::vector<Tick> ticks_of(const ColourRange& range, int count);

// Width of a vertical colour bar with its numbers and title; 0 if the page has no bar.
double colour_bar_width(const Page& page);
// Draws a vertical bar along the left of `box`, its numbers in full, and the first title that fits
// next to them.
void draw_colour_bar(Page& page, const Box& box, const ColourRange& range,
                     const std::vector<std::string>& titles);

// Height and drawing of a horizontal bar, whose numbers and title are below it.
double horizontal_colour_bar_height(const Page& page);
void draw_horizontal_colour_bar(Page& page, Point at, double width, const ColourRange& range,
                                const std::vector<std::string>& titles);

}  // namespace attnscope
