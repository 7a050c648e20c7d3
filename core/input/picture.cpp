#include "core/input/picture.h"

#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>

#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of a file
constexpr int kMostSide = 16384;                           // of a picture, pixels
constexpr Index kMostPixels = Index{1} << 26;
constexpr Index kMostGrid = 4096;  // of what is made of it, a side
constexpr Index kMostLevels = 65536;
constexpr int kWhite = 255;

void check(const char* what, Index value, Index least, Index most) {
  if (value >= least && value <= most) return;
  throw InputError("picture: " + std::string(what) + ": expected " + std::to_string(least) +
                   " to " + std::to_string(most) + ", found " + std::to_string(value));
}

struct Grey {
  int width = 0, height = 0;
  std::vector<stbi_uc> values;  // [height, width]
};

Grey decoded(const std::string& bytes, const std::string& name) {
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  const auto refused = [&](const std::string& what) {
    return InputError(name + ": " + what + ": " + stbi_failure_reason());
  };
  Grey grey;
  int channels = 0;
  if (stbi_info_from_memory(data, size, &grey.width, &grey.height, &channels) == 0) {
    throw refused("expected a picture (PNG, JPEG, BMP, GIF, TGA, PSD, PNM)");
  }
  const auto too_large = [&] {
    return grey.width < 1 || grey.height < 1 || grey.width > kMostSide || grey.height > kMostSide ||
           Index{grey.width} * grey.height > kMostPixels;
  };
  if (too_large()) {
    throw InputError(name + ": expected at most " + std::to_string(kMostSide) +
                     " pixels a side and " + std::to_string(kMostPixels) + " in all, found " +
                     std::to_string(grey.width) + " x " + std::to_string(grey.height));
  }
  struct Free {
    void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
  };
  constexpr int kGreyAndOpacity = 2;
  const std::unique_ptr<stbi_uc, Free> pixels(
      stbi_load_from_memory(data, size, &grey.width, &grey.height, &channels, kGreyAndOpacity));
  if (!pixels) throw refused("a damaged picture");
  grey.values.resize(static_cast<std::size_t>(grey.width) * static_cast<std::size_t>(grey.height));
  const stbi_uc* in = pixels.get();
  for (stbi_uc& out : grey.values) {  // on white paper
    const int value = in[0], opacity = in[1];
    out = static_cast<stbi_uc>((value * opacity + kWhite * (255 - opacity) + 127) / 255);
    in += kGreyAndOpacity;
  }
  return grey;
}

Grey resized(const Grey& from, int width, int height, const std::string& name) {
  if (from.width == width && from.height == height) return from;
  Grey to{width, height, {}};
  to.values.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  // A box: enlarged pixels stay what they are, and no filter overshoots.
  if (stbir_resize_uint8_generic(from.values.data(), from.width, from.height, 0, to.values.data(),
                                 width, height, 0, 1, STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP,
                                 STBIR_FILTER_BOX, STBIR_COLORSPACE_LINEAR, nullptr) == 0) {
    throw WorkError(name + ": stb_image_resize has no memory");
  }
  return to;
}

}  // namespace

IntTensor parse_picture(const std::string& bytes, const std::string& name, Index width,
                        Index height, Index levels) {
  check("width", width, 1, kMostGrid);
  check("height", height, 1, kMostGrid);
  check("levels", levels, 2, kMostLevels);
  if (bytes.size() > kMostBytes) {
    throw InputError(name + ": larger than " + std::to_string(kMostBytes) + " bytes");
  }
  const Grey grey =
      resized(decoded(bytes, name), static_cast<int>(width), static_cast<int>(height), name);
  IntTensor pixels({height, width});
  for (Index i = 0; i < pixels.size(); ++i) {
    const Index value = grey.values[static_cast<std::size_t>(i)];
    pixels[i] = static_cast<std::int32_t>(value * levels / (kWhite + 1));
  }
  return pixels;
}

IntTensor picture_pixels(const std::filesystem::path& path, Index width, Index height,
                         Index levels) {
  return parse_picture(read_file(path, kMostBytes), path.string(), width, height, levels);
}

}  // namespace attnscope
