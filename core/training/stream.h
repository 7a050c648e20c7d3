// Sequences of tokens for training, in an order that follows from a seed alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Cuts a text of tokens into windows of `length` predictions and hands them out in a shuffled
// order, all of them once in every epoch. Each epoch cuts at another place. Sequence number n is
// the same whatever was asked for before, so that nothing has to be stored to resume.
class TokenStream {
 public:
  // InputError when the text is shorter than length + 1 tokens.
  TokenStream(std::vector<std::int32_t> tokens, Index length, std::uint64_t seed);

  // inputs and targets [count, length]: sequences number, number + 1, ...
  void batch(std::uint64_t number, Index count, IntTensor& inputs, IntTensor& targets);

 private:
  void begin_epoch(std::uint64_t epoch);

  std::vector<std::int32_t> tokens_;
  Index length_;
  std::uint64_t seed_;
  std::uint64_t windows_;                    // in each epoch
  std::uint64_t epoch_ = ~std::uint64_t{0};  // that order_ and offset_ are of
  Index offset_ = 0;
  std::vector<std::uint32_t> order_;
};

// `count` windows of `length` predictions anywhere in a text of more tokens than that.
// inputs and targets: [count, length]
void random_windows(const std::vector<std::int32_t>& tokens, Index count, Index length,
                    Random& random, IntTensor& inputs, IntTensor& targets);

}  // namespace attnscope
