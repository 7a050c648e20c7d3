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

// Height of the tokens at this width; at most `most`.
double token_flow_height(const Page& page, const std::vector<FlowToken>& tokens, double width,
                         double most);
// The drawn part of a text: boxes of the tokens from `first` on.
struct TokenFlow {
  std::size_t first = 0;
  std::vector<Box> boxes;
  // Index of the token at a point; -1: none.
  Index at(Point p) const;
};
// Draws lines from the top of `box`. If they do not all fit, the omitted tokens before and after
// are counted; token `kept` stays visible.
TokenFlow draw_token_flow(Page& page, const Box& box, const std::vector<FlowToken>& tokens,
                          std::size_t kept);

// Hit test of a drawn text, whose tokens are queries of this layer and head.
std::function<std::optional<Hit>(Point)> token_hits(const TokenFlow& flow, Index layer, Index head);
// Adds a handle for each drawn token.
void add_token_handles(std::vector<Handle>& handles, const TokenFlow& flow, const std::string& help,
                       const std::function<void(Session&, Index)>& click);
// Adds handles that pin a token (`help`), or unpin the pinned one.
void add_pin_handles(std::vector<Handle>& handles, const TokenFlow& flow, const std::string& help,
                     Index pinned);

// A one-line colour legend from `at`: title and labelled swatches, as many as fit.
struct Swatch {
  Colour colour;
  std::string label;
};
double swatches_height(const Page& page);
void draw_swatches(Page& page, Point at, double width, const std::string& title,
                   const std::vector<Swatch>& swatches);

}  // namespace attnscope
