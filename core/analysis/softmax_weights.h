// Exact softmax weights on the same queries and keys, for methods that approximate them.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// Uses the variant's own exact weights ("exact") if reported, else computes them from the stored
// queries and keys (q_plain, k_plain) with the head's encoding, and with S_i if its columns are
// tokens. `head`: within the tap's group; `model`: the width d.  [L_q, L]
Tensor softmax_weights(const AttentionTap& tap, Index head, Index model);

}  // namespace attnscope
