// Random numbers in quantised formats.
#pragma once

#include <cstdint>

#include "core/tensor/stored_tensor.h"

namespace attnscope::testing {

// Random blocks with finite scales. The last dimension must be a multiple of block_size(dtype).
StoredTensor random_blocks(DType dtype, const Shape& shape, std::uint64_t seed);

}  // namespace attnscope::testing
