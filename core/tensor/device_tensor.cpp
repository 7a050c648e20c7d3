#include "core/tensor/device_tensor.h"

#include <algorithm>

namespace attnscope {

Tensor DeviceTensor::rows(Index plane, Index first, Index step, Index count) const {
  return rows_of(download(), plane, first, step, count);
}

Tensor rows_of(const Tensor& tensor, Index plane, Index first, Index step, Index count) {
  const Index columns = tensor.dim(-1);
  const float* from = tensor.data() + plane * tensor.dim(-2) * columns;
  Tensor result({count, columns});
  for (Index n = 0; n < count; ++n) {
    std::copy_n(from + (first + n * step) * columns, columns, result.data() + n * columns);
  }
  return result;
}

}  // namespace attnscope
