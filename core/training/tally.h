// Accumulates the loss and accuracy of predictions.
#pragma once

#include "core/tensor/tensor.h"
#include "core/training/train.h"

namespace attnscope {

class Tally {
 public:
  // logits: [.., vocabulary], targets: one per row of logits, -1 for rows that are not counted.
  void add(const Tensor& logits, const IntTensor& targets);

  void add(const Tally& other);

  double nats() const { return nats_; }  // sum of -ln p(target)
  Index count() const { return count_; }
  Index correct_count() const { return correct_count_; }  // rows with correct top-1 prediction
  // Mean nats and accuracy; NaN if nothing was counted.
  Score score() const;

 private:
  double nats_ = 0;
  Index count_ = 0, correct_count_ = 0;
};

}  // namespace attnscope
