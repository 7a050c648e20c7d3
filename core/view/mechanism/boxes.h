// Chains of text boxes, from input to output.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct ChainBox {
  std::string text;       // up to three lines
  bool is_start = false;  // highlighted
};
double chain_height(const Page& page);
// Draws boxes side by side along the top of `box`, with arrows between them.
void draw_chain(Page& page, const Box& box, const std::vector<ChainBox>& chain);

}  // namespace attnscope
