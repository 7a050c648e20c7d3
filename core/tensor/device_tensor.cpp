#include "core/tensor/device_tensor.h"

#include <algorithm>

namespace attnscope {

Tensor DeviceTensor::rows(Index plane, Index first, Index every, Index count) const {
  return rows_of(download(), plane, first, every, count);
}

Tensor rows_of(const Tensor& all, Index plane, Index first, Index every, Index count) {
  const Index columns = all.dim(-1);
  const float* from = all.data() + plane * all.dim(-2) * columns;
  Tensor result({count, columns});
  for (Index n = 0; n < count; ++n) {
    std::copy_n(from + (first + n * every) * columns, columns, result.data() + n * columns);
  }
  return result;
}

}  // namespace attnscope
