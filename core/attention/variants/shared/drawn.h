// Random numbers that stand in for tensors that nobody gave.
#pragma once

#include "core/attention/variants/shared/assemble.h"

namespace attnscope {

// Normal numbers, the same for the same seed. InputError "NAME: too large to draw ..." beyond
// 2^28 numbers.
Tensor drawn_normal(const char* name, const Shape& shape, double deviation, std::uint64_t seed);

// The same where axis `heads_axis` has one entry for each head of the operation. They are cut from
// what is drawn for all heads of the layer: a head's numbers do not depend on its group.
Tensor drawn_for_heads(const OperationInput& input, const char* name, Shape shape, Index heads_axis,
                       double deviation, std::uint64_t seed);

}  // namespace attnscope
