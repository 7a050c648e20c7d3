// Which parts of the screen differ from one frame to the next, and how to draw only those.
//
// A software rasteriser spends most of a frame on pixels that stay as they were: the panels while
// the pointer moves over the picture, the map while its cross-hair moves. Here each tile of the
// screen gets a fingerprint of all that is drawn into it, in order; tiles whose fingerprint
// changed are drawn again.
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

  // What a draw callback puts on the screen: where, and a number that differs where the pixels do.
  struct Drawing {
    PixelBox box;
    std::uint64_t fingerprint = 0;
  };
  using CallbackDrawing = std::function<Drawing(const ImDrawCmd&)>;

  explicit Damage(CallbackDrawing of_callback) : of_callback_(std::move(of_callback)) {}

  // Framebuffer pixels, y down from the top, no two of which overlap: where `data` differs from
  // the data of the call before. All of the screen at the first call and when its size changed.
  std::vector<PixelBox> update(const ImDrawData& data);

  // The next update() gives all of the screen. For changes that draw data does not tell: another
  // font texture under the same name.
  void forget() { tiles_.clear(); }

 private:
  using Tiles = std::vector<std::uint64_t>;  // fingerprints, row by row
  Tiles fingerprints(const ImDrawData& data) const;
  std::vector<PixelBox> differing(const Tiles& now) const;

  CallbackDrawing of_callback_;
  int width_ = 0, height_ = 0;  // of the screen, pixels
  int columns_ = 0;             // of tiles
  Tiles tiles_;
};

// Leaves of the draw data what falls into the boxes, clipped to them. Callbacks that draw nothing
// there stay, once, with an empty clip rectangle, so that they know what is still in use.
void keep_within(ImDrawData& data, const std::vector<PixelBox>& boxes);

}  // namespace attnscope::window
