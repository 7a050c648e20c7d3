// Labels of a head's keys, including keys that are not tokens of the text: memory, compressed
// slots.
#pragma once

#include "core/view/mechanism/mechanism.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {

// key_axis() that labels memory columns and slots by the tokens that they represent, if the trace
// contains those tokens.
TokenAxis key_axis_with_tokens(const HeadInput& in);

// Kinds of a head's key columns. Empty if there is only one kind, or if several rules admit the
// columns.
struct ColumnKinds {
  std::vector<int> by_column;      // indices in `names`
  std::vector<std::string> names;  // "compressed", "memory", "this segment"
};
ColumnKinds column_kinds(const AttentionTap& tap);

}  // namespace attnscope
