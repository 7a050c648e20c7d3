// Draws HeatMap items with OpenGL. Pixels are equal to those of core/figure/heat_map.h.
//
// The first pass computes one number per pixel: the value of the nearest cell, or a value pooled
// from several cells. Its result, a float texture, is cached while the view is unchanged. The
// second pass maps numbers to colours. Attention in GPU memory is not downloaded.
#pragma once

#include <memory>

#include "app/gpu/box_painting.h"
#include "core/figure/display_list.h"
#include "core/figure/image.h"

namespace attnscope {

// All calls and the destructor require the same current context; the constructor needs none.
class HeatMapPainter {
 public:
  // shares_with_backend: true if the current context shares objects with the compute backend. If
  // false, attention in GPU memory is downloaded and uploaded again.
  explicit HeatMapPainter(bool shares_with_backend = true);
  ~HeatMapPainter();
  HeatMapPainter(const HeatMapPainter&) = delete;
  HeatMapPainter& operator=(const HeatMapPainter&) = delete;

  // Fills `box` of the current framebuffer, limited to `clip`, with the visible part of the map,
  // blended over the existing pixels. Preserves OpenGL state, so that an ImGui draw callback can
  // call it. With an empty `clip` it draws nothing, but cached textures of the map count as used.
  // Throws WorkError if OpenGL fails.
  void draw(const HeatMap& map, const PixelBox& box, const PixelBox& clip, int framebuffer_height);

  // Call after each frame. Releases the textures of maps that this frame did not draw. The painter
  // keeps the numbers of drawn maps alive until this call.
  void end_frame();

  int cached_textures() const;  // number of textures; for tests

 private:
  struct State;
  bool shares_with_backend_;
  std::unique_ptr<State> state_;
};

// Colours of the current framebuffer, width x height pixels from its lower left corner.
Image read_framebuffer(int width, int height);

}  // namespace attnscope
