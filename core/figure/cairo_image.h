// Conversion between images and Cairo's surfaces, whose pixels are premultiplied 0xAARRGGBB in
// native byte order.
#pragma once

#include "core/figure/cairo_pointers.h"
#include "core/figure/image.h"

namespace attnscope {

// Throws WorkError if memory runs out.
SurfacePtr to_surface(const Image& image);
// `surface`: an image surface of format ARGB32. Transparent pixels become black.
Image to_image(cairo_surface_t* surface);

}  // namespace attnscope
