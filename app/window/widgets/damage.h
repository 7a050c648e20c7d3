// Damage tracking: finds the parts of the screen that differ between frames, to redraw only those.
//
// A software rasteriser spends most of a frame on pixels that do not change: the panels while the
// pointer moves over the picture, the map while its cross-hair moves. Each tile of the screen has a
// fingerprint of everything drawn into it, in order; tiles whose fingerprint changed are drawn
// again.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "app/gpu/heat_map_painter.h"

namespace attnscope::window {

class Damage {
 public:
  static constexpr int tile_size = 32;  // pixels

  // Output of a draw callback: its box, and a number that differs if its pixels differ.
  struct Drawing {
    PixelBox box;
    std::uint64_t fingerprint = 0;
  };
  using CallbackDrawing = std::function<Drawing(const ImDrawCmd&)>;

  explicit Damage(CallbackDrawing callback_drawing)
      : callback_drawing_(std::move(callback_drawing)) {}

  // Returns disjoint boxes in framebuffer pixels, y down from the top, in which `data` differs from
  // the previous call; the whole screen at the first call and after a change of its size.
  std::vector<PixelBox> update(const ImDrawData& data);

  // Makes the next update() return the whole screen. Call after changes that are not part of the
  // draw data, such as another font texture with the same name.
  void invalidate() { tiles_.clear(); }

 private:
  using Tiles = std::vector<std::uint64_t>;  // fingerprints, row by row
  Tiles fingerprints(const ImDrawData& data) const;
  std::vector<PixelBox> changed_boxes(const Tiles& tiles) const;

  CallbackDrawing callback_drawing_;
  int width_ = 0, height_ = 0;  // size of the screen in pixels
  int columns_ = 0;             // tiles per row
  Tiles tiles_;
};

// Clips the draw data to the boxes. A callback outside of them is kept once, with an empty clip
// rectangle, since callbacks track which resources are in use.
void clip_to_boxes(ImDrawData& data, const std::vector<PixelBox>& boxes);

}  // namespace attnscope::window
