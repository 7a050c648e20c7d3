// Packed keys of a block of rows: Prepared::packed_k or, if every block needs few keys, panels that
// are packed on demand. Packing on demand saves a pass over all keys, which in a narrow band of a
// long text costs as much as the arithmetic.
#pragma once

#include <array>

#include "core/attention/cpu/prepared.h"

namespace attnscope::cpu {

class KeyPanels {
 public:
  explicit KeyPanels(const Prepared& prepared) : prepared_(prepared) {}

  // Makes panels [first, last) of the head's keys available. False if there are too many.
  bool load(Index head, Index first, Index last);
  const float* panel(Index n) const;                    // [key_size, panel_width]
  float largest_norm() const { return largest_norm_; }  // upper bound of the keys' length

 private:
  void pack(Index begin, Index end);

  static constexpr Index max_panels = 64;  // for several blocks, which share some

  const Prepared& prepared_;
  Index head_ = -1;
  Index base_ = 0;              // panels_[n] is panel base_ + n
  Index first_ = 0, last_ = 0;  // available panels
  Tensor panels_;               // [max_panels, key_size, panel_width]
  std::array<float, max_panels> norms_{};
  float largest_norm_ = 0;
};

}  // namespace attnscope::cpu
