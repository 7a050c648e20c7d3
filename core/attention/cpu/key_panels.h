// Packed keys of a block of rows: those packed for the whole part or, if every block needs few,
// packed on demand. That avoids writing and reading all keys again, which for a band of a long text
// costs as much as the arithmetic.
#pragma once

#include <array>

#include "core/attention/cpu/prepared.h"

namespace attnscope::cpu {

class KeyPanels {
 public:
  explicit KeyPanels(const Prepared& prepared) : prepared_(prepared) {}

  // Makes panels [first, last) of the head's keys available. False if they are too many.
  bool load(Index head, Index first, Index last);
  const float* panel(Index n) const;                    // [key_size, panel_width]
  float largest_norm() const { return largest_norm_; }  // upper bound of the keys' length

 private:
  void pack(Index begin, Index end);

  static constexpr Index kept = 64;  // panels; neighbouring blocks share some

  const Prepared& prepared_;
  Index head_ = -1;
  Index base_ = 0;              // panel base_ + n lies at panels_[n]
  Index first_ = 0, last_ = 0;  // available panels
  Tensor panels_;               // [kept, key_size, panel_width]
  std::array<float, kept> norms_{};
  float largest_norm_ = 0;
};

}  // namespace attnscope::cpu
