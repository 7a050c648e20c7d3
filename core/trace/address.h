// Address: location of a recording in a model, and its step in time.
#pragma once

#include <string>

#include "core/base/index.h"

namespace attnscope {

enum class Stack { Encoder, Decoder };
enum class AttentionKind { Self, Cross };

struct Address {
  Stack stack = Stack::Decoder;
  AttentionKind kind = AttentionKind::Self;
  Index segment = 0;  // segment of a text that is read in segments
  Index step = 0;     // step of a recurrence over depth (from 1), or forward pass of a generation
  Index layer = 0;
  Index group = 0;  // head group within the layer
  auto operator<=>(const Address&) const = default;
};

// True for address components, other than layer and group, that take several values in a model.
// `kind` refers to the decoder.
struct AddressParts {
  bool stack = false, kind = false, segment = false, step = false;
};

// A tensor with an address and a name: "gate.attention", "state".
template <class Numbers>
struct Located {
  std::string name;
  Address address;
  Numbers values;
  bool by_head = false;  // the first axis is the head; files concatenate the groups of a layer
};

}  // namespace attnscope
