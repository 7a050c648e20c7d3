// Random values for weights that are not stored.
#pragma once

#include "core/attention/variants/shared/assemble.h"

namespace attnscope {

// Normally distributed numbers that depend only on the shape, the deviation and the seed. Throws
// InputError "NAME: too large to draw ..." for more than 2^28 numbers.
Tensor drawn_normal(const char* name, const Shape& shape, double deviation, std::uint64_t seed);

// drawn_normal() for a shape whose axis `heads_axis` counts the operation's heads. Draws for all
// heads of the layer, so that a head's numbers do not depend on its head group.
Tensor drawn_for_heads(const OperationInput& input, const char* name, Shape shape, Index heads_axis,
                       double deviation, std::uint64_t seed);

}  // namespace attnscope
