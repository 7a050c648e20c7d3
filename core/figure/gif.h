// Animated GIF files (GIF89a), by giflib.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/figure/image.h"

namespace attnscope {

// Palette of at most 255 colours for a set of images: their exact colours if possible, otherwise
// median cut (Heckbert, 1982) over colours of 5 bits per channel.
struct Palette {
  std::vector<std::array<std::uint8_t, 3>> colours;
};
Palette compute_palette(const std::vector<Image>& pictures);

// Encodes one frame at a time, so that only one image is in memory. All frames have the same size;
// transparent pixels become opaque. The animation loops forever.
class GifEncoder {
 public:
  GifEncoder(int width, int height, const Palette& palette, double seconds_per_frame);
  ~GifEncoder();
  GifEncoder(const GifEncoder&) = delete;
  GifEncoder& operator=(const GifEncoder&) = delete;

  void add(const Image& frame);
  std::string finish();  // returns the file; no frame may be added afterwards

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
