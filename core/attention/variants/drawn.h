// Random numbers that stand in for tensors that nobody gave.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

// Normal numbers, the same for the same seed. InputError "NAME: too large to draw ..." beyond
// 2^28 numbers.
Tensor drawn_normal(const char* name, const Shape& shape, double deviation, std::uint64_t seed);

}  // namespace attnscope
