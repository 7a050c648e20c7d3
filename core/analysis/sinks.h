// Weight of attention sinks (core/part/part.h).
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// Fraction of a row's weight on the head's sink; 0 without sinks, or if the run did not store the
// sums of its rows (log_sum_exp).
double sink_weight(const AttentionTap& tap, Index head, Index query);
// Mean over all rows and heads; 0 without sinks.
double sink_weight(const AttentionTap& tap);

}  // namespace attnscope
