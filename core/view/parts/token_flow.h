// The text as coloured tokens, one behind the other.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct FlowToken {
  std::string label;
  Colour ground;
  bool marked = false;  // outlined
};

// The height that the tokens take in this width; at most `most`.
double token_flow_height(const Page& page, const std::vector<FlowToken>& tokens, double width,
                         double most);
// What was drawn of a text: boxes of the tokens from `first` on.
struct TokenFlow {
  std::size_t first = 0;
  std::vector<Box> boxes;
  // The token there; -1: none.
  Index at(Point p) const;
};
// In lines from the top of `box`. Where they do not all fit, tokens before and after are counted
// instead; `kept` stays in sight.
TokenFlow draw_token_flow(Page& page, const Box& box, const std::vector<FlowToken>& tokens,
                          std::size_t kept);

// A key to the colours, in one line from `at`: a title and swatches with labels, as many as fit.
struct Swatch {
  Colour colour;
  std::string label;
};
double swatches_height(const Page& page);
void draw_swatches(Page& page, Point at, double width, const std::string& title,
                   const std::vector<Swatch>& swatches);

}  // namespace attnscope
