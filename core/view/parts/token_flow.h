// Running text as coloured tokens.
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

// Colour of layer or step n of `count`, evenly spaced: the first is bright, the last dark.
Colour depth_colour(Index n, Index count);

// Height of the tokens at this width; at most `max_height`.
double token_flow_height(const Page& page, const std::vector<FlowToken>& tokens, double width,
                         double max_height);
// The drawn tokens of a text; boxes[n] is the box of token `first` + n.
struct TokenFlow {
  std::size_t first = 0;
  std::vector<Box> boxes;
  // Index of the token at a point; -1: none.
  Index at(Point p) const;
};
// Draws lines of tokens from the top of `box`. If not all fit, shows the numbers of omitted tokens
// before and after the drawn ones, which include the token `required`.
TokenFlow draw_token_flow(Page& page, const Box& box, const std::vector<FlowToken>& tokens,
                          std::size_t required);

// Hit test of a drawn text, whose tokens are queries of this layer and head.
std::function<std::optional<Hit>(Point)> token_hits(const TokenFlow& flow, Index layer, Index head);
void add_token_handles(std::vector<Handle>& handles, const TokenFlow& flow, const std::string& help,
                       const std::function<void(Session&, Index)>& click);
// Adds handles that pin a token, with the tooltip `help`, or unpin the pinned token.
void add_pin_handles(std::vector<Handle>& handles, const TokenFlow& flow, const std::string& help,
                     Index pinned);

// A one-line colour legend that starts at `at`: title, and as many labelled swatches as fit.
struct Swatch {
  Colour colour;
  std::string label;
};
double swatches_height(const Page& page);
double swatches_width(const Page& page, const std::string& title,
                      const std::vector<Swatch>& swatches);
void draw_swatches(Page& page, Point at, double width, const std::string& title,
                   const std::vector<Swatch>& swatches);

}  // namespace attnscope
