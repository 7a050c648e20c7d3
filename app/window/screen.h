// The window's picture: kept from frame to frame, so that only what changed is drawn again.
#pragma once

#include <imgui.h>

#include "app/gpu/heat_map_painter.h"
#include "app/window/widgets/damage.h"

namespace attnscope::window {

// Used with the window's context current, after ImGui's backends have started.
class Screen {
 public:
  explicit Screen(Damage::CallbackDrawing of_callback) : damage_(std::move(of_callback)) {}
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Brings the kept picture up to date, over `ground`, and copies it to the window's back buffer.
  // Changes `data`. WorkError when OpenGL fails.
  void show(ImDrawData& data, const ImVec4& ground);

  // Draws all of the next frame: a texture changed that draw data only names.
  void forget() { damage_.forget(); }

  Image picture() const;  // what was shown last
  // A part of that in a texture, the same at each call, which the frame shown last must not have
  // drawn: rows from below, as OpenGL has them.
  unsigned int keep(const PixelBox& box);

  // All of `data` as it would look drawn from nothing. Before show(), for tests.
  Image drawn_anew(ImDrawData& data, const ImVec4& ground);

 private:
  void resize(int width, int height);

  Damage damage_;
  unsigned int framebuffer_ = 0, colours_ = 0, kept_ = 0;  // OpenGL names
  int width_ = 0, height_ = 0;
  ImU32 ground_ = 0;
};

// How many pixels of two pictures of one size have other colours, by more than rounding. One alone
// is not counted: it lies on an edge, on either side of which rasterisers may see it.
int differing_pixels(const Image& a, const Image& b);

}  // namespace attnscope::window
