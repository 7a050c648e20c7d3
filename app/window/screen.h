// The window's pixels, kept between frames so that only changes are drawn again.
#pragma once

#include <imgui.h>

#include "app/gpu/heat_map_painter.h"
#include "app/window/widgets/damage.h"

namespace attnscope::window {

// Requires the window's context to be current and ImGui's backends to be initialised.
class Screen {
 public:
  explicit Screen(Damage::CallbackDrawing callback_drawing)
      : damage_(std::move(callback_drawing)) {}
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Updates the stored picture over `background` and copies it to the window's back buffer.
  // Modifies `data`. Throws WorkError if OpenGL fails.
  void show(ImDrawData& data, const ImVec4& background);

  // Makes the next show() draw the whole frame. Call after changing the content of a texture.
  void invalidate() { damage_.invalidate(); }

  Image picture() const;  // last shown frame
  // Copies a region of the last shown frame to a texture, bottom row first. All calls return the
  // same texture, which the last shown frame must not have drawn.
  unsigned int copy_region(const PixelBox& box);

  // Draws `data` without stored pixels, for tests. Call before show(), which modifies `data`.
  Image draw_from_scratch(ImDrawData& data, const ImVec4& background);

 private:
  void resize(int width, int height);

  Damage damage_;
  unsigned int framebuffer_ = 0, colour_buffer_ = 0, copied_texture_ = 0;  // OpenGL names
  int width_ = 0, height_ = 0;
  ImU32 background_ = 0;
};

// Number of pixels that differ by more than rounding between two pictures of equal size. Isolated
// differences do not count: they are on edges, where rasterisers may round either way.
int count_differing_pixels(const Image& a, const Image& b);

}  // namespace attnscope::window
