// Attention sinks (core/part/part.h): what they take of a row's weight.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// The share of the row that goes to the head's sink and to no key, 0 without one.
double sink_share(const AttentionTap& tap, Index head, Index query);
// The mean over all rows and heads; 0: there are no sinks.
double sink_share(const AttentionTap& tap);

}  // namespace attnscope
