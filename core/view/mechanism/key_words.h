// What the keys of a head hold, in words, also where they are no tokens of the text that is read:
// memory, compressed slots.
#pragma once

#include "core/view/mechanism/mechanism.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {

// key_axis() with the tokens that memory columns and slots were made from, where the trace has
// them.
TokenAxis worded_keys(const MechanismOf& of);

// Where one rule admits all columns, and these are of several kinds: the kind of each. Both empty
// where that is not so.
struct ColumnKinds {
  std::vector<int> kind;           // by column, an index of `names`
  std::vector<std::string> names;  // "compressed", "memory", "this segment"
};
ColumnKinds kinds_of(const AttentionTap& tap);

}  // namespace attnscope
