// A chain of boxes with words, from what goes in to what comes out.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct ChainBox {
  std::string text;     // in up to three lines
  bool accent = false;  // what it begins with
};
double chain_height(const Page& page);
// Side by side along the top of the box, with arrows between them.
void draw_chain(Page& page, const Box& box, const std::vector<ChainBox>& chain);

}  // namespace attnscope
