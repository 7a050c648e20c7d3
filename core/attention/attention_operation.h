// Attention as a differentiable operation.
#pragma once

#include "core/attention/backend.h"

namespace attnscope {

// Computes the part's output, [B h, L_q, d_v], on `backend`. If an ingredient requires gradients,
// the operation is recorded under the name "attention". The backward pass runs on the CPU, supports
// every ingredient and normaliser, and recomputes probabilities so that memory stays linear in L.
// `report` (may be null) receives the results that `wanted` requests, without gradients. The
// forward and the backward pass may throw Stopped.
Var attention(const Part& part, Backend& backend, const ResultRequest& wanted,
              AttentionMaps* report);

}  // namespace attnscope
