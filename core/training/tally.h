// Counting how well predictions do.
#pragma once

#include "core/tensor/tensor.h"
#include "core/training/train.h"

namespace attnscope {

class Tally {
 public:
  // logits: [.., vocabulary], targets: a number for each of their rows; -1 does not count.
  void add(const Tensor& logits, const IntTensor& targets);

  void add(const Tally& other);

  double nats() const { return nats_; }  // -ln of what the targets got, summed
  Index counted() const { return counted_; }
  Index right() const { return right_; }  // where the likeliest was the target
  // Mean nats and the share that is right; NaN where nothing was counted.
  Score score() const;

 private:
  double nats_ = 0;
  Index counted_ = 0, right_ = 0;
};

}  // namespace attnscope
