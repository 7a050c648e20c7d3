#include "core/training/tally.h"

#include <algorithm>

#include "core/autodiff/operations_reduce.h"

namespace attnscope {

void Tally::add(const Tensor& logits, const IntTensor& targets) {
  const Index vocabulary = logits.dim(-1);
  Index here = 0;
  for (Index row = 0; row < targets.size(); ++row) {
    if (targets[row] < 0) continue;
    const float* of_row = logits.data() + row * vocabulary;
    ++here;
    if (std::max_element(of_row, of_row + vocabulary) == of_row + targets[row]) ++right_;
  }
  if (here == 0) return;
  const Var mean = cross_entropy(Var(logits.reshaped({targets.size(), vocabulary})),
                                 targets.reshaped({targets.size()}));
  nats_ += static_cast<double>(here) * static_cast<double>(mean.value()[0]);
  counted_ += here;
}

void Tally::add(const Tally& other) {
  nats_ += other.nats_;
  counted_ += other.counted_;
  right_ += other.right_;
}

Score Tally::score() const {
  Score score;
  if (counted_ == 0) return score;
  score.loss = nats_ / static_cast<double>(counted_);
  score.accuracy = static_cast<double>(right_) / static_cast<double>(counted_);
  return score;
}

}  // namespace attnscope
