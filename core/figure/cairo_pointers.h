// Owning pointers to Cairo's objects.
#pragma once

#include <cairo.h>

#include <memory>

namespace attnscope {

struct DestroyCairoObject {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
};
using SurfacePtr = std::unique_ptr<cairo_surface_t, DestroyCairoObject>;
using CairoPtr = std::unique_ptr<cairo_t, DestroyCairoObject>;

}  // namespace attnscope
