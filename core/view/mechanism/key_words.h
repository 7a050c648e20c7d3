// Labels of a head's keys, including keys that are not tokens of the text: memory, compressed
// slots.
#pragma once

#include "core/view/mechanism/mechanism.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {

// key_axis() that labels memory columns and slots by the tokens that they represent, if the trace
// contains these.
TokenAxis key_axis_with_tokens(const HeadInput& in);

// Kinds of columns, if one rule admits all columns and these are of several kinds. Otherwise both
// members are empty.
struct ColumnKinds {
  std::vector<int> kind;           // by column, an index of `names`
  std::vector<std::string> names;  // "compressed", "memory", "this segment"
};
ColumnKinds kinds_of(const AttentionTap& tap);

}  // namespace attnscope
