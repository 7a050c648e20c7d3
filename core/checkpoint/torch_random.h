// Reproduces torch.randn(count) in single precision on the CPU after torch.manual_seed(seed), for
// checkpoints whose code draws fixed random numbers from a seed.
#pragma once

#include <cstdint>

#include "core/tensor/tensor.h"

namespace attnscope {

// count: at least 16; torch draws fewer numbers by another method.  [count]
Tensor torch_normal(Index count, std::uint64_t seed);

}  // namespace attnscope
