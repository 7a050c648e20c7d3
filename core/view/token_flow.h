// The text as coloured tokens, one behind the other.
#pragma once

#include <string>
#include <vector>

#include "core/view/page.h"

namespace attnscope {

struct FlowToken {
  std::string label;
  Colour ground;
  bool marked = false;  // outlined
};

// The height that the tokens take in this width; at most `most`.
double token_flow_height(const Page& page, const std::vector<FlowToken>& tokens, double width,
                         double most);
// In lines from the top of `box`; where they do not all fit the last ones are counted instead.
// Returns the boxes of those drawn, from the first on.
std::vector<Box> draw_token_flow(Page& page, const Box& box, const std::vector<FlowToken>& tokens);

// A key to the colours, in one line from `at`: a title and swatches with labels, as many as fit.
struct Swatch {
  Colour colour;
  std::string label;
};
double swatches_height(const Page& page);
void draw_swatches(Page& page, Point at, double width, const std::string& title,
                   const std::vector<Swatch>& swatches);

}  // namespace attnscope
