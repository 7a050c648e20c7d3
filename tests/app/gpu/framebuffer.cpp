#include "tests/app/gpu/framebuffer.h"

#include <epoxy/gl.h>

#include <cmath>

namespace attnscope {

Colour pixel_of(const Image& image, int x, int y) {
  const std::uint8_t* p = image.rgba.data() + 4 * (y * image.width + x);
  return {p[0], p[1], p[2], p[3]};
}

OffscreenTarget::OffscreenTarget() : context(make_headless_context()) {
  context->make_current();
  glGenFramebuffers(1, &framebuffer_);
  glGenTextures(1, &texture_);
  glBindTexture(GL_TEXTURE_2D, texture_);
  glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, width, height);
  glBindTexture(GL_TEXTURE_2D, 0);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_, 0);
  clear();
}

OffscreenTarget::~OffscreenTarget() {
  glDeleteFramebuffers(1, &framebuffer_);
  glDeleteTextures(1, &texture_);
  context->release();
}

void OffscreenTarget::clear() const {
  glDisable(GL_SCISSOR_TEST);
  glClearColor(background.r / 255.0F, background.g / 255.0F, background.b / 255.0F, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

Colour OffscreenTarget::blended(const Image& image, const PixelBox& box, const PixelBox& clip,
                                int x, int y) {
  const auto is_inside = [&](const PixelBox& b) {
    return x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + b.height;
  };
  if (!is_inside(box) || !is_inside(clip)) return background;
  const Colour c = pixel_of(image, x - box.x, y - box.y);
  const auto mix = [&](int over, int under) {
    return static_cast<std::uint8_t>(std::lround((over * c.a + under * (255 - c.a)) / 255.0));
  };
  return {mix(c.r, background.r), mix(c.g, background.g), mix(c.b, background.b), 255};
}

}  // namespace attnscope
