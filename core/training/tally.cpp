#include "core/training/tally.h"

#include <algorithm>

#include "core/autodiff/operations_reduce.h"

namespace attnscope {

void Tally::add(const Tensor& logits, const IntTensor& targets) {
  const Index vocabulary = logits.dim(-1);
  Index counted = 0;
  for (Index row = 0; row < targets.size(); ++row) {
    if (targets[row] < 0) continue;
    const float* scores = logits.data() + row * vocabulary;
    ++counted;
    if (std::max_element(scores, scores + vocabulary) == scores + targets[row]) ++right_;
  }
  if (counted == 0) return;
  const Var mean = cross_entropy(Var(logits.reshaped({targets.size(), vocabulary})),
                                 targets.reshaped({targets.size()}));
  nats_ += static_cast<double>(counted) * static_cast<double>(mean.value()[0]);
  counted_ += counted;
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
