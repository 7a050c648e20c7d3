#include "core/training/stream.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/base/error.h"

namespace attnscope {

TokenStream::TokenStream(std::vector<std::int32_t> tokens, Index length, std::uint64_t seed)
    : tokens_(std::move(tokens)), length_(length), seed_(seed) {
  const Index count = static_cast<Index>(tokens_.size());
  if (count < length + 1) {
    throw InputError("text: expected at least " + std::to_string(length + 1) +
                     " tokens to train on, found " + std::to_string(count));
  }
  // One window fewer than the text has room for, so that offsets can vary; at least one window.
  windows_ = static_cast<std::uint64_t>(std::max<Index>(1, (count - 1) / length - 1));
}

void TokenStream::begin_epoch(std::uint64_t epoch) {
  epoch_ = epoch;
  Random random(derived_seed(seed_, epoch));
  const Index max_offset =
      static_cast<Index>(tokens_.size()) - 1 - static_cast<Index>(windows_) * length_;
  offset_ = static_cast<Index>(random.below(static_cast<std::uint64_t>(max_offset) + 1));
  order_.resize(windows_);
  std::iota(order_.begin(), order_.end(), 0u);
  for (std::size_t i = order_.size(); i > 1; --i) {  // Fisher and Yates
    std::swap(order_[i - 1], order_[random.below(i)]);
  }
}

void TokenStream::batch(std::uint64_t number, Index count, IntTensor& inputs, IntTensor& targets) {
  inputs = IntTensor({count, length_});
  targets = IntTensor({count, length_});
  for (Index b = 0; b < count; ++b) {
    const std::uint64_t n = number + static_cast<std::uint64_t>(b);
    if (n / windows_ != epoch_) begin_epoch(n / windows_);
    const auto* first =
        tokens_.data() + offset_ + static_cast<Index>(order_[n % windows_]) * length_;
    std::copy_n(first, length_, inputs.data() + b * length_);
    std::copy_n(first + 1, length_, targets.data() + b * length_);
  }
}

void random_windows(const std::vector<std::int32_t>& tokens, Index count, Index length,
                    Random& random, IntTensor& inputs, IntTensor& targets) {
  inputs = IntTensor({count, length});
  targets = IntTensor({count, length});
  const auto starts = tokens.size() - static_cast<std::size_t>(length);
  for (Index i = 0; i < count; ++i) {
    const auto* first = tokens.data() + random.below(starts);
    std::copy_n(first, length, inputs.data() + i * length);
    std::copy_n(first + 1, length, targets.data() + i * length);
  }
}

}  // namespace attnscope
