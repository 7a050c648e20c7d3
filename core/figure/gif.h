// Animated GIF files (GIF89a), by giflib.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/figure/image.h"

namespace attnscope {

// At most 255 colours that stand for all of some pictures: each of their colours where these are
// few, otherwise by median cut (Heckbert, 1982) over colours of 5 bits a channel.
struct Palette {
  std::vector<std::array<std::uint8_t, 3>> colours;
};
Palette palette_of(const std::vector<Image>& pictures);

// Frame by frame, so that no more than one picture need be kept. All frames have one size; what is
// transparent in them becomes opaque. Endless.
class GifEncoder {
 public:
  GifEncoder(int width, int height, const Palette& palette, double seconds_per_frame);
  ~GifEncoder();
  GifEncoder(const GifEncoder&) = delete;
  GifEncoder& operator=(const GifEncoder&) = delete;

  void add(const Image& frame);
  std::string finish();  // the file; nothing may be added after it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
