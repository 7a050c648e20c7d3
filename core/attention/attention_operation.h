// Attention as a differentiable operation.
#pragma once

#include "core/attention/backend.h"

namespace attnscope {

// Output of the part, [B h, L_q, d_v], computed by `backend`. If an ingredient requires gradients,
// the operation is recorded as "attention". Its backward pass runs on the CPU, supports every
// ingredient and normaliser, and recomputes probabilities so that memory stays linear in L.
// `report` (may be null) receives the results that `wanted` requests, without gradients. Both
// passes may throw Stopped.
Var attention(const Part& part, Backend& backend, const ResultRequest& wanted,
              AttentionMaps* report);

}  // namespace attnscope
