// Matrices as coloured cells without axes.
#pragma once

#include "core/view/parts/colour_bar.h"
#include "core/view/parts/page.h"

namespace attnscope {

// Draws a matrix [rows, columns], or a vector [n] as one row, with a frame.
void draw_panel(Page& page, const Box& box, const Tensor& numbers, const ColourRange& range);

// Colour range of `numbers`: minimum to maximum in the selected colours if no number is negative,
// otherwise symmetric about zero.
ColourRange range_of_numbers(const Page& page, const Tensor& numbers);

}  // namespace attnscope
