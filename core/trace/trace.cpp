#include "core/trace/trace.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/error.h"

namespace attnscope {
namespace {

constexpr Index kMaxPairs = Index{1} << 28;  // of a materialised map: 1 GiB

void check_head(const AttentionTap& tap, Index head) {
  const Index count = static_cast<Index>(tap.heads.size());
  if (head >= 0 && head < count) return;
  throw InputError("head: expected below " + std::to_string(count) + ", found " +
                   std::to_string(head));
}

}  // namespace

Tensor AttentionTap::attention(Index head) const {
  check_head(*this, head);
  const Shape shape{queries(), keys()};
  if (result.attention.defined()) return result.attention.slice(head, 1).reshaped(shape);
  if (result.device) return result.device->download().slice(head, 1).reshaped(shape);
  if (queries() > kMaxPairs / std::max<Index>(1, keys())) {
    throw InputError("attention of a head: expected at most " + std::to_string(kMaxPairs) +
                     " weights, found " + to_string(shape));
  }
  return rows(head, 0, queries());
}

Tensor AttentionTap::rows(Index head, Index first, Index count) const {
  check_head(*this, head);
  if (is_kept()) {
    const Tensor all = attention(head);
    return Tensor(all.slice(first, count));
  }
  if (result.tiles) {
    return result.tiles->tile({.head = head, .row = first, .height = count, .width = keys()});
  }
  throw InputError("attention of " + variant.id + ": not stored for " + std::to_string(queries()) +
                   " tokens and cannot be recomputed");
}

const AttentionTap* Trace::find(const HeadRef& at, Index* head_in_group) const {
  for (const AttentionTap& tap : attention) {
    if (tap.address.layer != at.layer || part_of(tap.address) != at.part) continue;
    const auto found = std::ranges::find(tap.heads, at.head);
    if (found == tap.heads.end()) continue;
    if (head_in_group) *head_in_group = found - tap.heads.begin();
    return &tap;
  }
  return nullptr;
}

namespace {

bool fits(const TracePart& part, const PartChoice& choice) {
  const auto is = [](const auto& named, const auto& own) { return !named || *named == own; };
  return is(choice.stack, part.stack) && is(choice.kind, part.kind) && is(choice.step, part.step) &&
         is(choice.segment, part.segment);
}

// True if a precedes b in the default selection.
bool comes_first(const TracePart& a, const TracePart& b) {
  if (a.stack != b.stack) return a.stack == Stack::Decoder;
  return a < b;
}

template <class Value>
void add_in_order(std::vector<Value>& list, const Value& value) {
  const auto at = std::ranges::lower_bound(list, value);
  if (at == list.end() || *at != value) list.insert(at, value);
}

}  // namespace

TracePart Trace::part(const PartChoice& choice) const {
  const AttentionTap* best = nullptr;
  for (const AttentionTap& tap : attention) {
    if (!fits(part_of(tap.address), choice)) continue;
    if (!best || comes_first(part_of(tap.address), part_of(best->address))) best = &tap;
  }
  if (best) return part_of(best->address);
  const TracePart usual;
  return {choice.stack.value_or(usual.stack), choice.kind.value_or(usual.kind),
          choice.step.value_or(usual.step), choice.segment.value_or(usual.segment)};
}

bool Trace::has(const TracePart& part) const {
  return std::ranges::any_of(attention,
                             [&](const AttentionTap& tap) { return part_of(tap.address) == part; });
}

PartAlternatives Trace::alternatives(const TracePart& part) const {
  PartAlternatives result;
  for (const AttentionTap& tap : attention) {
    const TracePart other = part_of(tap.address);
    add_in_order(result.stacks, other.stack);
    if (other.stack != part.stack) continue;
    add_in_order(result.kinds, other.kind);
    if (other.kind != part.kind) continue;
    if (other.segment == part.segment) add_in_order(result.steps, other.step);
    if (other.step == part.step) add_in_order(result.segments, other.segment);
  }
  return result;
}

Index Trace::layer_count(const TracePart& part) const {
  Index count = 0;
  for (const AttentionTap& tap : attention) {
    if (part_of(tap.address) == part) count = std::max(count, tap.address.layer + 1);
  }
  return count;
}

Index Trace::head_count(const TracePart& part, Index layer) const {
  Index count = 0;
  for (const AttentionTap& tap : attention) {
    if (tap.address.layer != layer || part_of(tap.address) != part) continue;
    for (const Index head : tap.heads) count = std::max(count, head + 1);
  }
  return count;
}

std::vector<HeadRef> Trace::heads(const TracePart& part) const {
  std::vector<HeadRef> list;
  for (const AttentionTap& tap : attention) {
    if (part_of(tap.address) != part) continue;
    for (const Index head : tap.heads) list.push_back({tap.address.layer, head, part});
  }
  std::ranges::sort(list);
  return list;
}

std::vector<HeadRef> Trace::layer_sequence(const TracePart& part) const {
  std::vector<HeadRef> list;
  for (const Index step : alternatives(part).steps) {
    TracePart at = part;
    at.step = step;
    for (Index layer = 0; layer < layer_count(at); ++layer) list.push_back({layer, 0, at});
  }
  return list;
}

const std::vector<TraceToken>& Trace::text_tokens() const {
  const auto source = std::ranges::find(streams, kSourceStream, &Stream::id);
  return source != streams.end() ? source->tokens : tokens;
}

const std::vector<TraceToken>& Trace::tokens_of(const StreamRows& rows) const {
  if (rows.stream.empty()) return tokens;
  const auto found = std::ranges::find(streams, rows.stream, &Stream::id);
  if (found == streams.end()) throw std::logic_error("no stream of tokens " + rows.stream);
  return found->tokens;
}

Index Trace::token_index(const StreamRows& rows, Index count, Index row) const {
  const auto all = static_cast<Index>(tokens_of(rows).size());
  if (!rows.indices.empty()) {
    const auto known = static_cast<std::size_t>(row) < rows.indices.size();
    const Index at = known ? rows.indices[static_cast<std::size_t>(row)] : -1;
    return at < all ? at : -1;
  }
  const Index first = rows.first >= 0 ? rows.first : all - count;
  return first < 0 || first + count > all ? -1 : first + row;
}

}  // namespace attnscope
