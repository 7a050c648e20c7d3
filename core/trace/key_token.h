// Tokens of key columns.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// Index of a key column's token in its stream; -1 for no token (memory, slots) or an unknown one.
Index key_token(const Trace& trace, const AttentionTap& tap, Index column);

}  // namespace attnscope
