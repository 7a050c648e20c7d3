// What the pictures of mechanisms are put together from: steps with a number and a sentence.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

double step_height(const Page& page);
// A numbered badge and the first of the sentences that fits, along the top of the box. Returns what
// is left of the box below it.
Box draw_step(Page& page, const Box& box, int number, const std::vector<std::string>& words);

}  // namespace attnscope
