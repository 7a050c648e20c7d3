// Draws a display list: shapes and text with ImGui, heat maps and images with shaders.
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
  // `shares_with_backend`: the window's context shares textures with the compute backend's.
  explicit Painter(bool shares_with_backend);
  Painter(const Painter&) = delete;
  Painter& operator=(const Painter&) = delete;

  // Call before painting a frame: clears the queue of the previous frame.
  void begin_frame();
  // Call after the frame is drawn. Returns the OpenGL error, if any.
  std::string end_frame();

  // Clears a box to an opaque colour. An ImGui shape would be blended, which costs a software
  // rasteriser milliseconds for a large box.
  void fill(ImDrawList& draw, ImVec2 min_corner, ImVec2 max_corner, ImU32 colour);

  // Output of a draw callback of this class (see damage.h).
  static Damage::Drawing drawing(const ImDrawCmd& command);

  // Paints the list with its origin at `origin` (pixels) and `scale` pixels per unit. The list must
  // stay alive until the frame is drawn.
  void paint(const DisplayList& list, ImDrawList& draw, ImVec2 origin, double scale,
             const Fonts& fonts);

 private:
  struct QueuedItem {  // heat map or image to be drawn with the frame
    Painter* painter;
    const Item* item;
    ImVec2 min_corner, max_corner;  // its box in pixels
  };
  struct ClearedBox {
    ImVec2 min_corner, max_corner;
    ImU32 colour;
  };
  static void draw_queued(const ImDrawList*, const ImDrawCmd* command);
  static void clear_filled(const ImDrawList*, const ImDrawCmd* command);

  void queue(const Item& item, ImVec2 min_corner, ImVec2 max_corner, ImDrawList& draw);

  HeatMapPainter heat_maps_;
  ImagePainter images_;
  std::deque<QueuedItem> queued_;  // ImGui keeps pointers to the elements
  std::deque<ClearedBox> filled_;
  std::string problem_;
};

}  // namespace attnscope::window
