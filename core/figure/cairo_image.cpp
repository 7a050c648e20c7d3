#include "core/figure/cairo_image.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/error.h"

namespace attnscope {
namespace {

constexpr int kBytesPerPixel = 4;

}  // namespace

SurfacePtr to_surface(const Image& image) {
  SurfacePtr surface(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, image.width, image.height));
  if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS) {
    throw WorkError("picture: out of memory for a heat map or an image");
  }
  unsigned char* const pixels = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  const std::uint8_t* in = image.rgba.data();
  for (int y = 0; y < image.height; ++y) {
    unsigned char* out = pixels + static_cast<std::ptrdiff_t>(y) * stride;
    for (int x = 0; x < image.width; ++x, in += kBytesPerPixel, out += kBytesPerPixel) {
      const std::uint32_t a = in[3];
      const auto premultiplied = [a](std::uint32_t v) { return (v * a + 127) / 255; };
      const std::uint32_t pixel =
          a << 24 | premultiplied(in[0]) << 16 | premultiplied(in[1]) << 8 | premultiplied(in[2]);
      std::memcpy(out, &pixel, sizeof pixel);
    }
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

Image to_image(cairo_surface_t* surface) {
  cairo_surface_flush(surface);
  const int width = cairo_image_surface_get_width(surface);
  const int height = cairo_image_surface_get_height(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  const unsigned char* const pixels = cairo_image_surface_get_data(surface);
  Image image{width, height, {}};
  image.rgba.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                    kBytesPerPixel);
  std::uint8_t* out = image.rgba.data();
  for (int y = 0; y < height; ++y) {
    const unsigned char* in = pixels + static_cast<std::ptrdiff_t>(y) * stride;
    for (int x = 0; x < width; ++x, in += kBytesPerPixel, out += kBytesPerPixel) {
      std::uint32_t pixel = 0;
      std::memcpy(&pixel, in, sizeof pixel);
      const std::uint32_t a = pixel >> 24;
      const auto straight = [a](std::uint32_t v) {
        if (a == 0 || a == 255) return static_cast<std::uint8_t>(v);
        return static_cast<std::uint8_t>((v * 255 + a / 2) / a);
      };
      out[0] = straight(pixel >> 16 & 0xff);
      out[1] = straight(pixel >> 8 & 0xff);
      out[2] = straight(pixel & 0xff);
      out[3] = static_cast<std::uint8_t>(a);
    }
  }
  return image;
}

}  // namespace attnscope
