// Tensor in device memory: an opaque handle issued by the device that computed it.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

// Views that support the device draw the tensor in place; others download it.
class DeviceTensor {
 public:
  virtual ~DeviceTensor() = default;
  virtual Shape shape() const = 0;      // e.g. [B h, L_q, L_k] of attention weights
  virtual Tensor download() const = 0;  // thread-safe; cached after the first call
  // Returns the rows first, first + step, ... of one plane of a tensor [planes, rows, columns] as
  // [count, columns]. Avoids downloading the other rows where possible. Thread-safe.
  virtual Tensor rows(Index plane, Index first, Index step, Index count) const;
};

// Like DeviceTensor::rows() for a tensor [planes, rows, columns] in host memory.
Tensor rows_of(const Tensor& tensor, Index plane, Index first, Index step, Index count);

}  // namespace attnscope
