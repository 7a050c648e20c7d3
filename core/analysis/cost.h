// Attention cost of a run, in operations and memory.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// Cost of one head, in query-key products. If a mechanism forms no query-key products, its cost is
// its number of multiply-adds, divided by the number that full attention needs per query-key pair.
struct HeadCost {
  double products = 0;
  double full = 0;      // products of full attention over the same tokens, causal if `causal`
  bool causal = false;  // no query sees a later key
};
HeadCost head_cost(const AttentionTap& tap, Index head);  // head: index within the tap's group

struct RunCost {
  Index pairs = 0;                // allowed query-key pairs, over all layers and heads
  double products = 0, full = 0;  // see HeadCost
  std::size_t bytes = 0;          // stored in the trace: activations, q, k, attention, logits
  // Bytes that attention needs, over all layers and heads: queries, keys, values, outputs, and one
  // number per product. The rest of `bytes` is stored for inspection only.
  double attention_bytes = 0;
};
RunCost run_cost(const Trace& trace);

}  // namespace attnscope
