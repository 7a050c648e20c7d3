// Parts that several pictures of a block share: strips of numbers, histograms.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/chart.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/page.h"

namespace attnscope {

struct Moments {
  double mean = 0, deviation = 0, rms = 0, least = 0, most = 0;
};
Moments moments(const Tensor& numbers);  // of all finite numbers

// A named strip of numbers [n], with its colour range's limits on the right.
struct NumberStrip {
  std::string name;
  Tensor numbers;
  ColourRange range;
};
double strip_height(const Page& page);
// Draws the strip in the first strip_height() of the box; names take `names` pixels.
void draw_number_strip(Page& page, const Box& box, const NumberStrip& strip, double names);
double strip_names_width(const Page& page, const std::vector<std::string>& names);

// Histogram of `numbers` in `box`, with the mean as a line and the band of one deviation. Draws
// nothing if there is no space.
void draw_histogram(Page& page, const Box& box, const Tensor& numbers,
                    const std::vector<std::string>& titles);

}  // namespace attnscope
