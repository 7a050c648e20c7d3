// The normal numbers that torch's generator on the CPU draws in single precision after
// torch.manual_seed(seed): torch.randn(count), so that what a checkpoint's code draws by a seed is
// the same here.
#pragma once

#include <cstdint>

#include "core/tensor/tensor.h"

namespace attnscope {

// count: at least 16, below which torch draws in another way.  [count]
Tensor torch_normal(Index count, std::uint64_t seed);

}  // namespace attnscope
