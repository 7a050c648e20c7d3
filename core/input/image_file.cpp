#include "core/input/image_file.h"

#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>

#include <memory>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/lower_case.h"

namespace attnscope {
namespace {

constexpr Index kMaxGrid = 4096;  // pixels per side of the result
constexpr Index kMaxLevels = 65536;
constexpr int kWhite = 255;

void check(const char* what, Index value, Index min, Index max) {
  if (value >= min && value <= max) return;
  throw InputError("image: " + std::string(what) + ": expected " + std::to_string(min) + " to " +
                   std::to_string(max) + ", found " + std::to_string(value));
}

struct Image {
  int width = 0, height = 0, channels = 1;
  std::vector<stbi_uc> values;  // [height, width, channels], opacity applied
};

// Maximum pixels per byte of a file in any format: 1-bit pixels at deflate's maximum ratio.
constexpr Index kMaxPixelsPerByte = Index{8} * 1040;

// Rejects chunk lengths beyond the file, because stb_image allocates whatever a PNG chunk claims.
void check_chunks(const std::string& bytes, const std::string& name) {
  constexpr std::size_t kSignature = 8, kHeader = 8, kOverhead = 12;  // header and checksum
  if (!bytes.starts_with("\x89PNG")) return;
  for (std::size_t offset = kSignature; offset + kHeader <= bytes.size();) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      length = length << 8 | static_cast<unsigned char>(bytes[offset + i]);
    }
    if (length > bytes.size() - offset - kHeader) {
      throw InputError(name + ": damaged: a chunk of " + std::to_string(length) +
                       " bytes in a file of " + std::to_string(bytes.size()));
    }
    offset += kOverhead + length;
  }
}

// Reads the header without decoding the image.
Image read_header(const std::string& bytes, const std::string& name) {
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  Image image;
  int channels = 0;
  if (stbi_info_from_memory(data, size, &image.width, &image.height, &channels) == 0) {
    throw InputError(name + ": expected an image (PNG, JPEG, BMP, GIF, TGA, PSD, PNM): " +
                     stbi_failure_reason());
  }
  const bool is_too_large = image.width < 1 || image.height < 1 ||
                            image.width > limits::kMaxImageSide ||
                            image.height > limits::kMaxImageSide ||
                            Index{image.width} * image.height > limits::kMaxImagePixels;
  if (is_too_large) {
    throw InputError(name + ": expected at most " + std::to_string(limits::kMaxImageSide) +
                     " pixels a side and " + std::to_string(limits::kMaxImagePixels) +
                     " in total, found " + std::to_string(image.width) + " x " +
                     std::to_string(image.height));
  }
  if (Index{image.width} * image.height > Index{size} * kMaxPixelsPerByte) {
    throw InputError(name + ": damaged: " + std::to_string(image.width) + " x " +
                     std::to_string(image.height) + " pixels in " + std::to_string(size) +
                     " bytes");
  }
  check_chunks(bytes, name);
  return image;
}

// Decodes an image on a white background. channels: 1 for grey, 3 for colours.
Image decode(const std::string& bytes, const std::string& name, int channels) {
  Image image = read_header(bytes, name);
  image.channels = channels;
  struct Free {
    void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
  };
  int file_channels = 0;
  const std::unique_ptr<stbi_uc, Free> pixels(stbi_load_from_memory(
      reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()), &image.width,
      &image.height, &file_channels, channels + 1));
  if (!pixels) throw InputError(name + ": damaged image: " + stbi_failure_reason());
  const std::size_t count =
      static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  image.values.resize(count * static_cast<std::size_t>(channels));
  const stbi_uc* in = pixels.get();
  stbi_uc* out = image.values.data();
  for (std::size_t n = 0; n < count; ++n, in += channels + 1, out += channels) {
    const int opacity = in[channels];
    for (int c = 0; c < channels; ++c) {
      out[c] = static_cast<stbi_uc>((in[c] * opacity + kWhite * (255 - opacity) + 127) / 255);
    }
  }
  return image;
}

Image resize(const Image& from, int width, int height, const std::string& name) {
  if (from.width == width && from.height == height) return from;
  Image to{width, height, from.channels, {}};
  to.values.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                   static_cast<std::size_t>(from.channels));
  // Box filter: enlarged pixels keep their values, and nothing overshoots.
  if (stbir_resize_uint8_generic(from.values.data(), from.width, from.height, 0, to.values.data(),
                                 width, height, 0, from.channels, STBIR_ALPHA_CHANNEL_NONE, 0,
                                 STBIR_EDGE_CLAMP, STBIR_FILTER_BOX, STBIR_COLORSPACE_LINEAR,
                                 nullptr) == 0) {
    throw WorkError(name + ": stb_image_resize has no memory");
  }
  return to;
}

std::string read_image(const std::filesystem::path& path) {
  return read_file(path, limits::kMaxImageBytes);
}

}  // namespace

IntTensor parse_image(const std::string& bytes, const std::string& name, Index width, Index height,
                      Index levels) {
  check("width", width, 1, kMaxGrid);
  check("height", height, 1, kMaxGrid);
  check("levels", levels, 2, kMaxLevels);
  if (bytes.size() > limits::kMaxImageBytes) {
    throw InputError(name + ": larger than " + std::to_string(limits::kMaxImageBytes) + " bytes");
  }
  const Image grey =
      resize(decode(bytes, name, 1), static_cast<int>(width), static_cast<int>(height), name);
  IntTensor pixels({height, width});
  for (Index i = 0; i < pixels.size(); ++i) {
    const Index value = grey.values[static_cast<std::size_t>(i)];
    pixels[i] = static_cast<std::int32_t>(value * levels / (kWhite + 1));
  }
  return pixels;
}

IntTensor image_pixels(const std::filesystem::path& path, Index width, Index height, Index levels) {
  return parse_image(read_file(path, limits::kMaxImageBytes), path.string(), width, height, levels);
}

bool is_image_file(const std::filesystem::path& path) {
  static const std::set<std::string> endings{".png", ".jpg", ".jpeg", ".bmp", ".gif",
                                             ".tga", ".psd", ".pnm",  ".pgm", ".ppm"};
  return endings.contains(lower_extension(path));
}

std::pair<Index, Index> image_size(const std::filesystem::path& path) {
  return parse_image_size(read_image(path), path.string());
}

std::pair<Index, Index> parse_image_size(const std::string& bytes, const std::string& name) {
  const Image image = read_header(bytes, name);
  return {image.width, image.height};
}

Tensor image_colours(const std::filesystem::path& path, Index width, Index height) {
  return parse_image_colours(read_image(path), path.string(), width, height);
}

Tensor parse_image_colours(const std::string& bytes, const std::string& name, Index width,
                           Index height) {
  check("width", width, 1, kMaxGrid);
  check("height", height, 1, kMaxGrid);
  const Image image =
      resize(decode(bytes, name, 3), static_cast<int>(width), static_cast<int>(height), name);
  Tensor colours({height, width, 3});
  for (Index i = 0; i < colours.size(); ++i) {
    colours[i] = static_cast<float>(image.values[static_cast<std::size_t>(i)]) / kWhite;
  }
  return colours;
}

}  // namespace attnscope
