// Draws HeatMap items with OpenGL: numbers as float textures, colours by a shader. The same rule
// as core/figure/heat_map.h, pixel by pixel.
//
// In two passes: the number that each pixel shows (nearest or pooled exactly, cached while a view
// stays as it is), then its colour. Attention that lies on the GPU is drawn from its own texture;
// nothing is downloaded.
#pragma once

#include <memory>

#include "app/gpu/box_painting.h"
#include "core/figure/display_list.h"
#include "core/figure/image.h"

namespace attnscope {

// Used with one context current, the same at every call and at the end (OpenGL objects are made at
// the first draw).
class HeatMapPainter {
 public:
  // Whether the context shares objects with the compute backend's; otherwise attention that lies
  // on the GPU is downloaded and uploaded.
  explicit HeatMapPainter(bool shares_with_backend = true);
  ~HeatMapPainter();
  HeatMapPainter(const HeatMapPainter&) = delete;
  HeatMapPainter& operator=(const HeatMapPainter&) = delete;

  // Fills `box` of the current framebuffer, of which only `clip` is touched, with the visible part
  // of the map, blended over what is there. Leaves OpenGL's state as it was, so that it can be
  // called from an ImGui draw callback. With an empty `clip` nothing is drawn, but what was kept
  // for the map counts as drawn. WorkError when OpenGL fails.
  void draw(const HeatMap& map, const PixelBox& box, const PixelBox& clip, int framebuffer_height);

  // After each frame: forgets the textures of maps that were not drawn since the last call. Until
  // then the numbers of a drawn map are kept alive.
  void end_frame();

  int kept_textures() const;  // of numbers, for tests

 private:
  struct State;
  bool shares_with_backend_;
  std::unique_ptr<State> state_;
};

// The current framebuffer's colours, width x height pixels from its lower left corner.
Image read_framebuffer(int width, int height);

}  // namespace attnscope
