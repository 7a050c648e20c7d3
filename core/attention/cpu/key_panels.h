// Packed keys of a block of rows: Prepared::packed_k or, if every block needs few keys, panels that
// are packed on demand. Packing on demand saves a pass over all keys. For a narrow band of pairs of
// a long text, that pass would cost as much as the arithmetic.
#pragma once

#include <array>

#include "core/attention/cpu/prepared.h"

namespace attnscope::cpu {

class KeyPanels {
 public:
  explicit KeyPanels(const Prepared& prepared) : prepared_(prepared) {}

  // Makes panels [first, last) of the head's keys available. Returns false for too many panels.
  bool load(Index head, Index first, Index last);
  const float* panel(Index n) const;            // [key_size, panel_width]
  float max_norm() const { return max_norm_; }  // upper bound of the norms of loaded keys

 private:
  void pack(Index begin, Index end);

  static constexpr Index max_panels = 64;  // enough for several blocks with overlapping panels

  const Prepared& prepared_;
  Index head_ = -1;
  Index base_ = 0;              // panels_[n] is panel base_ + n
  Index first_ = 0, last_ = 0;  // available panels
  Tensor panels_;               // [max_panels, key_size, panel_width]
  std::array<float, max_panels> norms_{};
  float max_norm_ = 0;
};

}  // namespace attnscope::cpu
