// Offscreen framebuffer for painter tests.
#pragma once

#include <memory>

#include "app/gpu/box_painting.h"
#include "app/gpu/context.h"
#include "core/figure/display_list.h"
#include "core/figure/image.h"

namespace attnscope {

Colour pixel_of(const Image& image, int x, int y);

// Framebuffer whose context is current during its lifetime.
struct OffscreenTarget {
  static constexpr int width = 97, height = 83;
  static constexpr Colour background{10, 200, 30, 255};

  OffscreenTarget();
  ~OffscreenTarget();
  OffscreenTarget(const OffscreenTarget&) = delete;
  OffscreenTarget& operator=(const OffscreenTarget&) = delete;
  void clear() const;  // fills with `background`
  unsigned framebuffer() const { return framebuffer_; }
  unsigned texture() const { return texture_; }

  // Expected colour of a pixel if `image` is blended over `background` in `box`, clipped by `clip`.
  static Colour blended(const Image& image, const PixelBox& box, const PixelBox& clip, int x,
                        int y);

  std::unique_ptr<GlContext> context;

 private:
  unsigned framebuffer_ = 0, texture_ = 0;
};

}  // namespace attnscope
