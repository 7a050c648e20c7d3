// Draws ColourImage items with OpenGL, as specified in core/figure/display_list.h.
#pragma once

#include <memory>

#include "app/gpu/box_painting.h"
#include "core/figure/display_list.h"

namespace attnscope {

// All calls and the destructor require the same current context; the constructor needs none.
class ImagePainter {
 public:
  ImagePainter();
  ~ImagePainter();
  ImagePainter(const ImagePainter&) = delete;
  ImagePainter& operator=(const ImagePainter&) = delete;

  // As HeatMapPainter::draw().
  void draw(const ColourImage& item, const PixelBox& box, const PixelBox& clip,
            int framebuffer_height);

  // Call after each frame. Releases the textures of images that this frame did not draw. The
  // painter keeps the colours of drawn images alive until this call.
  void end_frame();

  int cached_textures() const;  // for tests

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
