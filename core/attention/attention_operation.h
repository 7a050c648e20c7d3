// Attention as a differentiable operation.
#pragma once

#include "core/attention/backend.h"

namespace attnscope {

// The part's output, [B h, L_q, d_v]. Where an ingredient wants a gradient, the operation runs on
// the CPU and is recorded as "attention"; its backward pass knows every ingredient and normaliser
// and computes probabilities anew instead of keeping them: memory stays linear in L. Otherwise
// `backend` runs it. Beside the output, `report` (may be null) gets what `wanted` asks for; no
// gradients flow through that. Stopped may also be thrown by the backward pass.
Var attention(const Part& part, Backend& backend, const Wanted& wanted, PartResult* report,
              const Stop& stop);

}  // namespace attnscope
