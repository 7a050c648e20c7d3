// Accumulates the loss and accuracy of predictions.
#pragma once

#include "core/tensor/tensor.h"
#include "core/training/train.h"

namespace attnscope {

class Tally {
 public:
  // logits: [.., vocabulary], targets: one per row; -1 is not counted.
  void add(const Tensor& logits, const IntTensor& targets);

  void add(const Tally& other);

  double nats() const { return nats_; }  // sum of -ln p(target)
  Index counted() const { return counted_; }
  Index right() const { return right_; }  // targets predicted as the most likely token
  // Mean nats and accuracy; NaN if nothing was counted.
  Score score() const;

 private:
  double nats_ = 0;
  Index counted_ = 0, right_ = 0;
};

}  // namespace attnscope
