#include "core/trace/trace.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/error.h"

namespace attnscope {
namespace {

constexpr Index kMaxPairs = Index{1} << 28;  // limit of a materialised map: 1 GiB

void check_head(const AttentionTap& tap, Index head) {
  const Index count = static_cast<Index>(tap.heads.size());
  if (head >= 0 && head < count) return;
  throw InputError("head: expected below " + std::to_string(count) + ", found " +
                   std::to_string(head));
}

}  // namespace

void AttentionTap::record(HeadTensors<Tensor> input, OperationResult operation) {
  vectors = AttentionVectors{std::move(input), operation.part, operation.output.value()};
  result = static_cast<OperationRecord&&>(operation);
}

std::shared_ptr<const Part> AttentionTap::part() const {
  return settings() == nullptr ? nullptr : vectors.get()->part;
}

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
  if (stores_map()) {
    const Tensor map = attention(head);
    return Tensor(map.slice(first, count));
  }
  if (result.tiles) {
    return result.tiles->tile({.head = head, .row = first, .height = count, .width = keys()});
  }
  throw InputError("attention of " + variant.id + ": not stored for " + std::to_string(queries()) +
                   " tokens and cannot be recomputed");
}

const AttentionTap* Trace::find(const HeadRef& ref, Index* head_in_group) const {
  for (const AttentionTap& tap : attention) {
    if (tap.address.layer != ref.layer || part_of(tap.address) != ref.part) continue;
    const auto it = std::ranges::find(tap.heads, ref.head);
    if (it == tap.heads.end()) continue;
    if (head_in_group) *head_in_group = it - tap.heads.begin();
    return &tap;
  }
  return nullptr;
}

namespace {

bool matches_choice(const TracePart& part, const PartChoice& choice) {
  const auto matches = [](const auto& a, const auto& b) { return !a || *a == b; };
  return matches(choice.stack, part.stack) && matches(choice.kind, part.kind) &&
         matches(choice.step, part.step) && matches(choice.segment, part.segment);
}

// True if a precedes b in the default selection.
bool comes_first(const TracePart& a, const TracePart& b) {
  if (a.stack != b.stack) return a.stack == Stack::Decoder;
  return a < b;
}

template <class Value>
void add_in_order(std::vector<Value>& list, const Value& value) {
  const auto it = std::ranges::lower_bound(list, value);
  if (it == list.end() || *it != value) list.insert(it, value);
}

}  // namespace

TracePart Trace::part(const PartChoice& choice) const {
  const AttentionTap* best = nullptr;
  for (const AttentionTap& tap : attention) {
    if (!matches_choice(part_of(tap.address), choice)) continue;
    if (!best || comes_first(part_of(tap.address), part_of(best->address))) best = &tap;
  }
  if (best) return part_of(best->address);
  const TracePart defaults;
  return {choice.stack.value_or(defaults.stack), choice.kind.value_or(defaults.kind),
          choice.step.value_or(defaults.step), choice.segment.value_or(defaults.segment)};
}

bool Trace::has(const TracePart& part) const {
  return std::ranges::any_of(attention,
                             [&](const AttentionTap& tap) { return part_of(tap.address) == part; });
}

PartAlternatives Trace::alternatives(const TracePart& part) const {
  PartAlternatives result;
  for (const AttentionTap& tap : attention) {
    const TracePart tap_part = part_of(tap.address);
    add_in_order(result.stacks, tap_part.stack);
    if (tap_part.stack != part.stack) continue;
    add_in_order(result.kinds, tap_part.kind);
    if (tap_part.kind != part.kind) continue;
    if (tap_part.segment == part.segment) add_in_order(result.steps, tap_part.step);
    if (tap_part.step == part.step) add_in_order(result.segments, tap_part.segment);
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
    TracePart target = part;
    target.step = step;
    for (Index layer = 0; layer < layer_count(target); ++layer) list.push_back({layer, 0, target});
  }
  return list;
}

const std::vector<TraceToken>& Trace::text_tokens() const {
  const auto source = std::ranges::find(streams, kSourceStream, &Stream::id);
  return source != streams.end() ? source->tokens : tokens;
}

const std::vector<TraceToken>& Trace::tokens_of(const StreamRows& rows) const {
  if (rows.stream.empty()) return tokens;
  const auto it = std::ranges::find(streams, rows.stream, &Stream::id);
  if (it == streams.end()) throw std::logic_error("no stream of tokens " + rows.stream);
  return it->tokens;
}

Index Trace::token_index(const StreamRows& rows, Index count, Index row) const {
  const auto token_count = static_cast<Index>(tokens_of(rows).size());
  if (!rows.indices.empty()) {
    const auto has_index = static_cast<std::size_t>(row) < rows.indices.size();
    const Index index = has_index ? rows.indices[static_cast<std::size_t>(row)] : -1;
    return index < token_count ? index : -1;
  }
  const Index first = rows.first >= 0 ? rows.first : token_count - count;
  return first < 0 || first + count > token_count ? -1 : first + row;
}

}  // namespace attnscope
