// Runs whose first token is an attention sink.
#pragma once

#include "core/trace/trace.h"

namespace attnscope::testing {

// Moves the fraction `share` of the weight of each row to the first token.
inline Trace with_sink(Trace trace, float share) {
  for (AttentionTap& tap : trace.attention) {
    Tensor weights = tap.result.attention.copy();  // [h, L, L]
    for (Index head = 0; head < weights.dim(0); ++head) {
      for (Index i = 1; i < weights.dim(1); ++i) {
        for (Index c = 0; c < weights.dim(2); ++c) weights(head, i, c) *= 1 - share;
        weights(head, i, 0) += share;
      }
    }
    tap.result.attention = weights;
  }
  return trace;
}

}  // namespace attnscope::testing
