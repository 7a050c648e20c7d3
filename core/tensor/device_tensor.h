// Numbers that lie on a device: an opaque handle that whoever computed them gives out.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

// Views that can draw it where it lies do; others download.
class DeviceTensor {
 public:
  virtual ~DeviceTensor() = default;
  virtual Shape shape() const = 0;      // of attention: [B h, L_q, L_k]
  virtual Tensor download() const = 0;  // from any thread; cached after the first call
  // Rows first, first + every, ... (`count` of them) of one plane of [planes, rows, columns], for
  // what a few rows can tell: where it can, without downloading the others. From any thread.
  // [count, columns]
  virtual Tensor rows(Index plane, Index first, Index every, Index count) const;
};

// The same of numbers of the host: [planes, rows, columns].
Tensor rows_of(const Tensor& all, Index plane, Index first, Index every, Index count);

}  // namespace attnscope
