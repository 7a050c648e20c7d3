// Forward and backward pass of a part.
#pragma once

#include "core/attention/backend.h"
#include "core/attention/cpu/prepared.h"

namespace attnscope::cpu {

PartResult forward(const Prepared& prepared, const ResultRequest& wanted);

// Adds to the gradients of the part's ingredients. Recomputes probabilities from `result`, the
// output and log-sum-exp of the forward pass.
void backward(const Prepared& prepared, const PartResult& result, const Tensor& d_output);

}  // namespace attnscope::cpu
