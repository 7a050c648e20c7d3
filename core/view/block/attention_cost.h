// Multiplications of one attention layer, and of layers of the same width with other heads.
#pragma once

#include <string>

#include "core/trace/trace.h"

namespace attnscope {

// Multiply-adds of the layer's matrix products, as the forward pass counts them (Work).
struct AttentionCost {
  double projections = 0;  // W_Q, W_K, W_V and W_O
  double scores = 0;       // q·k of all allowed pairs
  double sums = 0;         // weighted values of all allowed pairs
  double total() const { return projections + scores + sums; }
};

// Sizes of an attention layer.
struct AttentionSizes {
  Index queries = 0, keys = 0;  // L_q, L_k
  Index projected_keys = 0;     // rows that W_K and W_V multiply; memory adds stored keys
  Index width = 0;              // d
  Index heads = 0, key_heads = 0, head_size = 0;
  double pairs = 0;  // allowed pairs of all heads
};

// Sizes of the tap's layer, from all its head groups. The trace has a configuration.
AttentionSizes attention_sizes(const Trace& trace, const AttentionTap& tap);
AttentionCost attention_cost(const AttentionSizes& sizes);
// The layer with one head of the size of all heads together, and as many pairs as a head has on
// average.
AttentionSizes with_one_head(const AttentionSizes& sizes);
// The layer with a key-value head for each head.
AttentionSizes with_all_key_heads(const AttentionSizes& sizes);

}  // namespace attnscope
