// Tokens with their probabilities or other numbers, as bar charts.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct TokenBar {
  std::string label;
  double first = 0, second = 0;  // `second` only in comparisons
  std::string note{};            // faint text after the bar: "the text's own"
};

struct TokenBars {
  std::vector<TokenBar> bars;
  bool two = false;      // draw bars of `second` below those of `first`
  bool shares = true;    // the numbers are shares of 1, such as probabilities, and shown in percent
  double most = 1;       // value of a bar of full width
  Colour first, second;  // colours of the bars
  Index marked = -1;     // highlighted row
};

// Puts labels that differ only by hidden space markers in quotes, with their spaces: “ the”.
std::vector<std::string> distinct_labels(const Page& page, std::vector<std::string> labels);

// Draws the first title that fits on the line of `box` above bars, and at its end the value of a
// full bar, unless that is 1 or there is no space.
void draw_bars_title(Page& page, const Box& box, const std::vector<std::string>& titles,
                     double most);

double token_bar_height(const Page& page, bool two);  // height of a row
// Draws as many rows as fit, from the top of `box`. Returns their boxes.
std::vector<Box> draw_token_bars(Page& page, const Box& box, const TokenBars& bars);

}  // namespace attnscope
