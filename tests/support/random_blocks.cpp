#include "tests/support/random_blocks.h"

#include <random>

namespace attnscope::testing {

StoredTensor random_blocks(DType dtype, const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Index count = byte_count(dtype, element_count(shape)), bytes = byte_size(dtype);
  const auto numbers = std::make_shared<ByteTensor>(Shape{count});
  for (Index block = 0; block < count; block += bytes) {
    std::uint8_t* at = numbers->data() + block;
    do {
      for (Index i = 0; i < bytes; ++i) at[i] = static_cast<std::uint8_t>(random());
    } while (!has_finite_numbers(dtype, at, block_size(dtype)));
  }
  return {dtype, shape, numbers->data(), numbers};
}

}  // namespace attnscope::testing
