// Token sequences for training, in an order determined by a seed.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Splits a text into windows of `length` predictions. Each epoch returns every window once, in
// shuffled order. Each epoch splits the text at a different random offset. Sequence n does not
// depend on earlier calls, so that resuming needs no state.
class TokenStream {
 public:
  // Throws InputError if the text has fewer than length + 1 tokens.
  TokenStream(std::vector<std::int32_t> tokens, Index length, std::uint64_t seed);

  // Writes sequences number, number + 1, ... to inputs and targets [count, length].
  void batch(std::uint64_t number, Index count, IntTensor& inputs, IntTensor& targets);

 private:
  void begin_epoch(std::uint64_t epoch);

  std::vector<std::int32_t> tokens_;
  Index length_;
  std::uint64_t seed_;
  std::uint64_t windows_;                    // number of windows per epoch
  std::uint64_t epoch_ = ~std::uint64_t{0};  // epoch of order_ and offset_
  Index offset_ = 0;
  std::vector<std::uint32_t> order_;
};

// Draws `count` windows of `length` predictions at random positions. Requires more than
// `length` tokens. inputs and targets: [count, length].
void random_windows(const std::vector<std::int32_t>& tokens, Index count, Index length,
                    Random& random, IntTensor& inputs, IntTensor& targets);

}  // namespace attnscope
