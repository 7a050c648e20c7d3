// 8-bit images.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

struct Image {  // 8-bit RGBA, not premultiplied, rows from the top
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  // [height, width, 4]
};

// Quantises colours from 0 to 1 to 8 bits; values outside are clamped, NaN becomes 0. `colours`:
// [height, width, 3 or 4]; the fourth channel is opacity.
Image image_of(const Tensor& colours);

// Resizes with nearest-neighbour sampling at pixel centres.
Image resized(const Image& image, int width, int height);

}  // namespace attnscope
