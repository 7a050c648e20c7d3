// A tile of a map that is larger than the screen it goes to (tile.cpp).
#pragma once

#include "core/attention/tile.h"

namespace attnscope {

enum class Pooling { Max, Mean };

// attention_tile() at the resolution of a screen: cell (r, c) pools the weights of rows
// row + r step ... and columns col + c step ..., step of each (fewer at the end), exactly.
// [ceil(height / step), ceil(width / step)]
Tensor pooled_attention_tile(const Part& part, const Tensor& log_sum_exp, Index head, Index row,
                             Index col, Index height, Index width, Index step, Pooling pooling);

}  // namespace attnscope
