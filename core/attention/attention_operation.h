// Attention as a differentiable operation.
#pragma once

#include "core/attention/backend.h"

namespace attnscope {

// Output of the part, [B h, L_q, d_v], computed by `backend`. If an ingredient requires gradients,
// the operation runs on the CPU and is recorded as "attention"; its backward pass supports every
// ingredient and normaliser and recomputes probabilities: memory stays linear in L. `report` (may
// be null) receives what `wanted` asks for, without gradients. The backward pass may throw Stopped,
// too.
Var attention(const Part& part, Backend& backend, const Wanted& wanted, AttentionMaps* report);

}  // namespace attnscope
