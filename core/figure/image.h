// Pixels.
#pragma once

#include <cstdint>
#include <vector>

namespace attnscope {

struct Image {  // 8-bit RGBA, not premultiplied, rows from the top
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  // [height, width, 4]
};

}  // namespace attnscope
