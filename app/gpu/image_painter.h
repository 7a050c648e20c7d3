// Draws ColourImage items with OpenGL, by the rule that core/figure/display_list.h states.
#pragma once

#include <memory>

#include "app/gpu/box_painting.h"
#include "core/figure/display_list.h"

namespace attnscope {

// Used with one context current, the same at every call and at the end (OpenGL objects are made at
// the first draw).
class ImagePainter {
 public:
  ImagePainter();
  ~ImagePainter();
  ImagePainter(const ImagePainter&) = delete;
  ImagePainter& operator=(const ImagePainter&) = delete;

  // As HeatMapPainter::draw().
  void draw(const ColourImage& item, const PixelBox& box, const PixelBox& clip,
            int framebuffer_height);

  // After each frame: forgets the textures of what was not drawn since the last call. Until then
  // the colours of what was drawn are kept alive.
  void end_frame();

  int kept_textures() const;  // for tests

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
