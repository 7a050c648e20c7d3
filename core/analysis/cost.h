// Attention cost of a run, in operations and memory.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// Cost of one head in query-key products. Mechanisms without such products count multiply-adds,
// divided by the multiply-adds of one pair of full attention.
struct HeadCost {
  double products = 0;
  double full = 0;      // products of full attention over the same tokens; causal if `causal`
  bool causal = false;  // no query sees a later key
};
HeadCost head_cost(const AttentionTap& tap, Index head);  // head: within the group

struct RunCost {
  Index pairs = 0;                // allowed query-key pairs, over all layers and heads
  double products = 0, full = 0;  // see HeadCost
  std::size_t bytes = 0;          // stored in the trace: activations, q, k, attention, logits
  // Bytes that attention itself needs, over all layers and heads: queries, keys, values, outputs,
  // and one number per product. The rest of `bytes` is stored for inspection only.
  double attention_bytes = 0;
};
RunCost run_cost(const Trace& trace);

}  // namespace attnscope
