#include "core/training/tally.h"

#include <algorithm>

#include "core/autodiff/operations_reduce.h"

namespace attnscope {

void Tally::add(const Tensor& logits, const IntTensor& targets) {
  const Index vocabulary = logits.dim(-1);
  Index count = 0;
  for (Index row = 0; row < targets.size(); ++row) {
    if (targets[row] < 0) continue;
    const float* scores = logits.data() + row * vocabulary;
    ++count;
    if (std::max_element(scores, scores + vocabulary) == scores + targets[row]) ++correct_count_;
  }
  if (count == 0) return;
  const Var mean = cross_entropy(Var(logits.reshaped({targets.size(), vocabulary})),
                                 targets.reshaped({targets.size()}));
  nats_ += static_cast<double>(count) * static_cast<double>(mean.value()[0]);
  count_ += count;
}

void Tally::add(const Tally& other) {
  nats_ += other.nats_;
  count_ += other.count_;
  correct_count_ += other.correct_count_;
}

Score Tally::score() const {
  Score score;
  if (count_ == 0) return score;
  score.loss = nats_ / static_cast<double>(count_);
  score.accuracy = static_cast<double>(correct_count_) / static_cast<double>(count_);
  return score;
}

}  // namespace attnscope
