// Where in a model, and when, something was recorded.
#pragma once

#include <string>

#include "core/base/index.h"

namespace attnscope {

enum class Stack { Encoder, Decoder };
enum class AttentionKind { Self, Cross };

struct Address {
  Stack stack = Stack::Decoder;
  AttentionKind kind = AttentionKind::Self;
  Index segment = 0;  // of a text that is read in segments
  Index step = 0;     // of a recurrence over depth, from 1; in generation the number of the pass
  Index layer = 0;
  Index group = 0;  // head group within the layer
  auto operator<=>(const Address&) const = default;
};

// Which parts of their addresses tell a model's taps apart, beside layer and group; the kind is
// that of the decoder alone.
struct AddressParts {
  bool stack = false, kind = false, segment = false, step = false;
};

// A tensor that belongs to a place in the model: "gate.attention", "state".
template <class Numbers>
struct Located {
  std::string name;
  Address address;
  Numbers values;
  bool by_head = false;  // the first axis is that of the heads: those of a layer stand together
};

}  // namespace attnscope
