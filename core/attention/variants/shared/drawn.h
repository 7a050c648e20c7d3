// Random values for tensors that are not given.
#pragma once

#include "core/attention/variants/shared/assemble.h"

namespace attnscope {

// Normal numbers, deterministic in the seed. InputError "NAME: too large to draw ..." beyond 2^28
// numbers.
Tensor drawn_normal(const char* name, const Shape& shape, double deviation, std::uint64_t seed);

// For an axis `heads_axis` with one entry per head of the operation. A slice of the numbers for all
// heads of the layer: a head's numbers do not depend on its group.
Tensor drawn_for_heads(const OperationInput& input, const char* name, Shape shape, Index heads_axis,
                       double deviation, std::uint64_t seed);

}  // namespace attnscope
