// What a run took.
#pragma once

#include "core/experiment/trace.h"

namespace attnscope {

struct RunCost {
  Index pairs = 0;        // of query and key that are allowed, over all layers and heads
  Index all_pairs = 0;    // what full attention of the same direction has
  std::size_t bytes = 0;  // of all numbers that the run keeps: activations, q, k, attention, logits
};
RunCost run_cost(const Trace& trace);

}  // namespace attnscope
