// References to attention heads, as used by views, interventions, statistics and claims.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/trace/address.h"

namespace attnscope {

// Attention of one stack, kind, step and segment. Layer and head numbers refer to one TracePart.
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

// Components of a TracePart that the user has selected. The others default to the first that the
// run has, with decoder before encoder and self-attention before cross-attention.
struct PartChoice {
  std::optional<Stack> stack{};
  std::optional<AttentionKind> kind{};
  std::optional<Index> step{}, segment{};
  bool operator==(const PartChoice&) const = default;
};

// Values for which the run has attention, ascending: all stacks; kinds of the current stack; steps
// and segments if all other components keep their current values.
struct PartAlternatives {
  std::vector<Stack> stacks;
  std::vector<AttentionKind> kinds;
  std::vector<Index> steps, segments;
};

std::string name_of(Stack stack);         // "encoder"
std::string name_of(AttentionKind kind);  // "cross"
// Inverse of name_of(). InputErrors begin with `path`.
Stack stack_from_name(const std::string& name, const std::string& path);
AttentionKind kind_from_name(const std::string& name, const std::string& path);

// "decoder, cross-attention", "step 3": the components that take several values in the model. Empty
// if the model has a single part.
std::string describe_part(const AddressParts& parts, const TracePart& part);
// "decoder, cross-attention, layer 2, head 1".
std::string describe_head(const AddressParts& parts, const HeadRef& ref);

}  // namespace attnscope
