// Building blocks of mechanism pictures: numbered steps with a sentence.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

// The part of a box below its uppermost `height` units.
Box below(const Box& box, double height);
// Splits a wide box side by side, a narrow box top to bottom. `fraction`: share of the first box.
std::pair<Box, Box> split(const Page& page, const Box& box, double fraction = 0.5);

double step_height(const Page& page);
// Draws a numbered badge and the longest sentence that fits along the top of the box. Returns the
// remaining box.
Box draw_step(Page& page, const Box& box, int number, const std::vector<std::string>& sentences);

}  // namespace attnscope
