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
};

}  // namespace attnscope
