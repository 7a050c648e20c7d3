#include "core/experiment/trace.h"

#include <algorithm>

#include "core/base/error.h"

namespace attnscope {

Tensor AttentionTap::attention(Index head) const {
  const Index count = static_cast<Index>(heads.size());
  if (head < 0 || head >= count) {
    throw InputError("head " + std::to_string(head) + " of a group of " + std::to_string(count));
  }
  const Shape shape{queries(), keys()};
  if (result.attention.defined()) return result.attention.slice(head, 1).reshaped(shape);
  if (result.device) return result.device->download().slice(head, 1).reshaped(shape);
  if (result.part && result.log_sum_exp.defined()) {
    return attention_tile(*result.part, result.log_sum_exp, head, 0, 0, shape[0], shape[1]);
  }
  throw InputError("the attention of " + variant.id + " was not kept for a sequence of " +
                   std::to_string(queries()) + " tokens and cannot be derived");
}

const AttentionTap* Trace::find(Index layer, Index head, Index* head_in_group, Kind kind) const {
  for (const AttentionTap& tap : attention) {
    if (tap.address.layer != layer || tap.address.kind != kind) continue;
    const auto found = std::ranges::find(tap.heads, head);
    if (found == tap.heads.end()) continue;
    if (head_in_group) *head_in_group = found - tap.heads.begin();
    return &tap;
  }
  return nullptr;
}

Index Trace::layer_count() const {
  Index count = 0;
  for (const AttentionTap& tap : attention) count = std::max(count, tap.address.layer + 1);
  return count;
}

Index Trace::head_count(Index layer) const {
  Index count = 0;
  for (const AttentionTap& tap : attention) {
    if (tap.address.layer != layer) continue;
    for (const Index head : tap.heads) count = std::max(count, head + 1);
  }
  return count;
}

}  // namespace attnscope
