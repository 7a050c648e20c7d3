// From numbers to colours, and the key from colours to numbers.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

// Numbers are placed along a colour map: at 0 the least, at 1 the most; in a diverging map zero is
// in the middle and both sides are alike.
struct ColourRange {
  enum class Scale { Linear, Log, Rank };

  double least = 0, most = 1;  // diverging: least = -most
  std::string colour_map = "viridis";
  Scale scale = Scale::Linear;
  double smallest = 1e-4;       // Log: the magnitude at the lower end, or beside the middle
  std::vector<float> ranked{};  // Rank: magnitudes at equal steps of rank, rising; see ranks_of()

  double position(double number) const;  // 0..1, clamped; NaN stays
  double number_at(double position) const;

  bool passed = false;  // there are numbers beyond `most`, which have its colour
};

// The magnitudes of the numbers that are neither 0 nor NaN, at equal steps of their order.
std::vector<float> ranks_of(const Tensor& numbers);

// Numbers on whose linear scale colours are as `range` has them, and that scale: what a heat map
// takes. A linear range gives the numbers themselves.
struct Scaled {
  Tensor numbers;
  double least = 0, most = 1;
};
Scaled scaled(const Tensor& numbers, const ColourRange& range);

struct Tick {
  double position = 0;  // along the colours, 0..1
  std::string text;
};
// About `count` numbers to write beside the colours, from the lower end; never so few that they do
// not say how far a linear range goes, nor where it begins.
std::vector<Tick> ticks_of(const ColourRange& range, int count);

// The space that a bar with numbers and a title takes.
double colour_bar_width(const Page& page);
// A bar along the left of `box`, as high as it, with numbers, which are never cut, and the first
// title that fits upright beside them.
void draw_colour_bar(Page& page, const Box& box, const ColourRange& range,
                     const std::vector<std::string>& titles);

// A level bar with numbers below it and the first title that fits below these.
double level_colour_bar_height(const Page& page);
void draw_level_colour_bar(Page& page, Point at, double width, const ColourRange& range,
                           const std::vector<std::string>& titles);

}  // namespace attnscope
