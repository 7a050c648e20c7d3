// Tokens with their probabilities, as rows of bars.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct TokenBar {
  std::string label;
  double first = 0, second = 0;  // 0..1; `second` where two are compared
  std::string note{};            // behind the number, faint: "the text's own"
};

struct TokenBars {
  std::vector<TokenBar> bars;
  bool two = false;      // bars of `second` below those of `first`
  double most = 1;       // what the full width stands for
  Colour first, second;  // of the bars
  Index marked = -1;     // the row that stands out
};

double token_bar_height(const Page& page, bool two);  // of one row
// As many rows as fit, from the top of `box`. Returns their boxes.
std::vector<Box> draw_token_bars(Page& page, const Box& box, const TokenBars& bars);

}  // namespace attnscope
