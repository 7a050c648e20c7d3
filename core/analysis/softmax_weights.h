// Exact softmax weights on a head's queries and keys, for methods that approximate them.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// Returns the exact weights that the variant reports ("exact"), else computes them from the stored
// queries and keys with the head's encoding, and with the pattern S_i if the pattern's columns are
// tokens. `head`: within the tap's group; `model`: the width d.  [L_q, L]
Tensor softmax_weights(const AttentionTap& tap, Index head, Index model);

}  // namespace attnscope
