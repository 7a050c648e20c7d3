#include "core/figure/image.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

Image image_of(const Tensor& colours) {
  const Index channels = colours.dim(2), pixels = colours.dim(0) * colours.dim(1);
  Image image{static_cast<int>(colours.dim(1)), static_cast<int>(colours.dim(0)),
              std::vector<std::uint8_t>(static_cast<std::size_t>(pixels) * 4, 255)};
  const float* from = colours.data();
  for (std::uint8_t* to = image.rgba.data(); to != image.rgba.data() + 4 * pixels; to += 4) {
    for (Index c = 0; c < channels; ++c) {
      const float level = *from++;
      to[c] = static_cast<std::uint8_t>(
          std::lround(255 * (level > 0 ? std::min(level, 1.0F) : 0.0F)));  // NaN: 0
    }
  }
  return image;
}

Image resized(const Image& image, int width, int height) {
  const auto bytes = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4;
  Image result{width, height, std::vector<std::uint8_t>(bytes)};
  const auto nearest = [](int i, int count, int size) {
    return static_cast<std::size_t>((2 * std::int64_t{i} + 1) * size / (2 * std::int64_t{count}));
  };
  std::uint8_t* to = result.rgba.data();
  for (int y = 0; y < height; ++y) {
    const std::size_t row =
        nearest(y, height, image.height) * static_cast<std::size_t>(image.width);
    for (int x = 0; x < width; ++x, to += 4) {
      std::copy_n(image.rgba.data() + 4 * (row + nearest(x, width, image.width)), 4, to);
    }
  }
  return result;
}

}  // namespace attnscope
