// What the columns of a map stand for.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// Which token of its stream a key column is, or -1: it is none (memory, slots), or not known.
Index key_token(const Trace& trace, const AttentionTap& tap, Index column);

}  // namespace attnscope
