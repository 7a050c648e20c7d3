// What a softmax over the same queries and keys gives, of methods that do something else.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// The variant's own account of it ("exact"), or computed here from the queries and keys that were
// kept (q_plain, k_plain), with the head's encoding and S_i where this is one of tokens. `head`:
// within the tap's group; `model`: the width d.  [L_q, L]
Tensor softmax_weights(const AttentionTap& tap, Index head, Index model);

}  // namespace attnscope
