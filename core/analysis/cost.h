// What a run took.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// What one head takes, in products of a query and a key; where its mechanism makes none, in as many
// multiply-adds as a pair of full attention takes.
struct HeadCost {
  double products = 0;
  double full = 0;      // of full attention to the same tokens, in the same direction
  bool causal = false;  // no query sees a later key
};
HeadCost head_cost(const AttentionTap& tap, Index head);  // numbered within the group

struct RunCost {
  Index pairs = 0;                // of query and key that are allowed, over all layers and heads
  double products = 0, full = 0;  // see HeadCost
  std::size_t bytes = 0;  // of all numbers that the run keeps: activations, q, k, attention, logits
  // What attention itself needs, over all layers and heads: queries, keys, values and output, and a
  // number for each of `products`. What is kept beyond that is there to be looked at.
  double attention_bytes = 0;
};
RunCost run_cost(const Trace& trace);

}  // namespace attnscope
