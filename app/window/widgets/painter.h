// Draws a display list on the screen: ImGui's draw list for shapes and text, shaders for heat maps
// and for images.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <deque>
#include <string>

#include "app/gpu/heat_map_painter.h"
#include "app/gpu/image_painter.h"
#include "app/window/widgets/damage.h"
#include "app/window/widgets/fonts.h"
#include "core/figure/display_list.h"

namespace attnscope::window {

class Painter {
 public:
  // Whether the window's context shares textures with the compute backend's.
  explicit Painter(bool shares_with_backend);
  Painter(const Painter&) = delete;
  Painter& operator=(const Painter&) = delete;

  // Before anything is painted in a frame: forgets what the frame before queued.
  void begin_frame();
  // When the frame is drawn. Says what OpenGL could not do; mostly empty.
  std::string end_frame();

  // A box of one opaque colour, cleared: a software rasteriser takes milliseconds to blend a large
  // one as ImGui's shapes are.
  void fill(ImDrawList& draw, ImVec2 least, ImVec2 most, ImU32 colour);

  // Of what a draw callback made here puts on the screen (see damage.h).
  static Damage::Drawing drawing(const ImDrawCmd& command);

  // With the list's origin at `origin` (pixels) and `scale` pixels per unit. The list must stay
  // until the frame is drawn.
  void paint(const DisplayList& list, ImDrawList& draw, ImVec2 origin, double scale,
             const Fonts& fonts);

 private:
  struct Queued {  // a heat map or an image that waits for the frame to be drawn
    Painter* painter;
    const Item* item;
    ImVec2 least, most;  // its box in pixels
  };
  struct Filled {
    ImVec2 least, most;
    ImU32 colour;
  };
  static void draw_queued(const ImDrawList*, const ImDrawCmd* command);
  static void clear_filled(const ImDrawList*, const ImDrawCmd* command);

  void queue(const Item& item, ImVec2 least, ImVec2 most, ImDrawList& draw);

  HeatMapPainter heat_maps_;
  ImagePainter images_;
  std::deque<Queued> queued_;  // ImGui keeps pointers into these
  std::deque<Filled> filled_;
  std::string problem_;
};

}  // namespace attnscope::window
