// What a view, an intervention, a statistic or a claim points at: a head, and of what it is one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/trace/address.h"

namespace attnscope {

// The attention of one stack and kind, in one step and one segment: within it layers and heads are
// counted.
struct TracePart {
  Stack stack = Stack::Decoder;
  AttentionKind kind = AttentionKind::Self;
  Index step = 0, segment = 0;
  auto operator<=>(const TracePart&) const = default;
};
TracePart part_of(const Address& address);

struct HeadRef {
  Index layer = 0, head = 0;  // the head is numbered within the layer
  TracePart part{};
  auto operator<=>(const HeadRef&) const = default;
};

// What of a part a person has named. The rest is the first that a run has; of several stacks the
// decoder, of several kinds self-attention.
struct PartChoice {
  std::optional<Stack> stack{};
  std::optional<AttentionKind> kind{};
  std::optional<Index> step{}, segment{};
  bool operator==(const PartChoice&) const = default;
};

// What can be chosen in place of a part's stack, kind, step and segment, the others as they are:
// each in order, with its own.
struct PartOffer {
  std::vector<Stack> stacks;
  std::vector<AttentionKind> kinds;
  std::vector<Index> steps, segments;
};

std::string name_of(Stack stack);         // "encoder"
std::string name_of(AttentionKind kind);  // "cross"
// By name. InputErrors begin with `what`.
Stack stack_from_name(const std::string& name, const std::string& what);
AttentionKind kind_from_name(const std::string& name, const std::string& what);

// "decoder, cross-attention", "step 3": what of it tells a model's attention apart. Empty where the
// model has one part alone.
std::string part_words(const AddressParts& parts, const TracePart& part);
// "decoder, cross-attention, layer 2, head 1".
std::string place_words(const AddressParts& parts, const HeadRef& at);

}  // namespace attnscope
