// Pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

struct Image {  // 8-bit RGBA, not premultiplied, rows from the top
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  // [height, width, 4]
};

// Colours from 0 to 1, nearest of 256; what is beyond or NaN is the end or black.
// colours: [height, width, 3 or 4], the fourth how opaque
Image image_of(const Tensor& colours);

// Of another size, which it is stretched to: each pixel shows the one under its centre.
Image stretched(const Image& image, int width, int height);

}  // namespace attnscope
