#include "core/trace/trace.h"

#include <algorithm>

#include "core/base/error.h"

namespace attnscope {

namespace {

constexpr Index kMostPairs = Index{1} << 28;  // of a map that is made whole: 1 GiB

void check_head(const AttentionTap& tap, Index head) {
  const Index count = static_cast<Index>(tap.heads.size());
  if (head >= 0 && head < count) return;
  throw InputError("head " + std::to_string(head) + " of a group of " + std::to_string(count));
}

}  // namespace

Tensor AttentionTap::attention(Index head) const {
  check_head(*this, head);
  const Shape shape{queries(), keys()};
  if (result.attention.defined()) return result.attention.slice(head, 1).reshaped(shape);
  if (result.device) return result.device->download().slice(head, 1).reshaped(shape);
  if (queries() > kMostPairs / std::max<Index>(1, keys())) {
    throw InputError("the attention of a head has " + to_string(shape) +
                     " weights: too many to be had at once, expected at most " +
                     std::to_string(kMostPairs));
  }
  return rows(head, 0, queries());
}

Tensor AttentionTap::rows(Index head, Index first, Index count) const {
  check_head(*this, head);
  if (kept()) {
    const Tensor all = attention(head);
    return Tensor(all.slice(first, count));
  }
  if (result.tiles) {
    return result.tiles->tile({.head = head, .row = first, .height = count, .width = keys()},
                              Stop());
  }
  throw InputError("the attention of " + variant.id + " was not kept for a sequence of " +
                   std::to_string(queries()) + " tokens and cannot be derived");
}

const AttentionTap* Trace::find(Index layer, Index head, Index* head_in_group, AttentionKind kind) const {
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
