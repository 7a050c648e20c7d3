// Numbers as coloured cells in a box, without axes.
#pragma once

#include "core/view/parts/colour_bar.h"
#include "core/view/parts/page.h"

namespace attnscope {

// [rows, columns], or [n] as one row; framed.
void draw_panel(Page& page, const Box& box, const Tensor& numbers, const ColourRange& range);

// From the least to the largest of the numbers where none is negative, in the colours that were
// chosen; else the same to both sides of zero.
ColourRange range_of_numbers(const Page& page, const Tensor& numbers);

}  // namespace attnscope
