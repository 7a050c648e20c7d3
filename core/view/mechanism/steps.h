// What the pictures of mechanisms are put together from: steps with a number and a sentence.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

// The rest of a box below its first `height`.
Box below(const Box& box, double height);
// Side by side where the box is wide, else above each other; `share` of it for the first.
std::pair<Box, Box> split(const Page& page, const Box& box, double share = 0.5);

double step_height(const Page& page);
// A numbered badge and the first of the sentences that fits, along the top of the box. Returns what
// is left of the box below it.
Box draw_step(Page& page, const Box& box, int number, const std::vector<std::string>& words);

}  // namespace attnscope
