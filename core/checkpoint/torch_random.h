// Reproduces torch.randn(count) in single precision on the CPU after torch.manual_seed(seed), for
// checkpoints whose code draws fixed random numbers from a seed.
#pragma once

#include <cstdint>

#include "core/tensor/tensor.h"

namespace attnscope {

// Returns [count] numbers. `count` is at least 16: torch draws fewer numbers by another method.
Tensor torch_normal(Index count, std::uint64_t seed);

}  // namespace attnscope
