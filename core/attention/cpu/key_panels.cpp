#include "core/attention/cpu/key_panels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope::cpu {

bool KeyPanels::load(Index head, Index first, Index last) {
  if (prepared_.packed_k.defined()) {
    head_ = head;
    max_norm_ = prepared_.key_norms[static_cast<std::size_t>(head)];
    return true;
  }
  max_norm_ = 0;
  if (first >= last) return true;
  if (last - first > max_panels) return false;
  if (!panels_.defined()) panels_ = Tensor({max_panels, prepared_.key_size, panel_width});
  const bool is_adjacent = head == head_ && first <= last_ && first_ <= last;
  if (!is_adjacent || first < base_ || last > base_ + max_panels) {
    // Blocks arrive in order, ascending or descending.
    const bool is_ascending = is_adjacent && first > first_;
    base_ = is_ascending ? first : last - max_panels;
    head_ = head;
    first_ = last_ = first;
  }
  if (first < first_) pack(first, first_);
  if (last > last_) pack(last_, last);
  first_ = std::min(first_, first);
  last_ = std::max(last_, last);
  max_norm_ = *std::max_element(norms_.begin() + (first - base_), norms_.begin() + (last - base_));
  return true;
}

const float* KeyPanels::panel(Index n) const {
  return prepared_.packed_k.defined()
             ? prepared_.packed_k.panel(head_, n)
             : panels_.data() + (n - base_) * prepared_.key_size * panel_width;
}

void KeyPanels::pack(Index begin, Index end) {
  const Index size = prepared_.key_size, keys = prepared_.keys;
  const float* rows = prepared_.keys_of(head_);
  for (Index n = begin; n < end; ++n) {
    const Index first_key = n * panel_width, count = std::min(panel_width, keys - first_key);
    pack_panel(prepared_.kernels, rows + first_key * size, count, size,
               panels_.data() + (n - base_) * size * panel_width);
    float max_square = 0;
    for (Index x = first_key; x < first_key + count; ++x) {
      const float square = prepared_.kernels.dot(rows + x * size, rows + x * size, size);
      if (!(square <= max_square)) max_square = square;  // also if `square` is NaN
      if (std::isnan(max_square)) break;
    }
    norms_[static_cast<std::size_t>(n - base_)] =
        std::isnan(max_square) ? std::numeric_limits<float>::infinity() : std::sqrt(max_square);
  }
}

}  // namespace attnscope::cpu
