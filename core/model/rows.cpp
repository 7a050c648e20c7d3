#include "core/model/rows.h"

#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {

Var select_rows(const Var& x, const std::vector<std::int32_t>& rows) {
  return gather(x, IntTensor::from({static_cast<Index>(rows.size())}, rows));
}

Var replace_rows(const Var& x, const Var& new_rows, const std::vector<std::int32_t>& rows) {
  Tensor result = x.value().copy();
  const Index width = x.dim(1);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    std::copy_n(new_rows.value().data() + static_cast<Index>(n) * width, width,
                result.data() + rows[n] * width);
  }
  return result;
}

Var choose_rows(const Tensor& selector, const Var& a, const Var& b) {
  const Tensor mask = selector.reshaped({selector.size(), 1});
  Tensor inverse(mask.shape());
  std::ranges::transform(mask, inverse.begin(), [](float m) { return 1 - m; });
  return add(multiply(a, mask), multiply(b, inverse));
}

Var mean_rows(const Var& x, Index batch) {
  const Index length = x.dim(0) / batch;
  const Var sums = sum_axis(reshape(x, {batch, length, x.dim(1)}), 1);  // [B, d]
  return scale(sums, 1.0f / static_cast<float>(length));
}

}  // namespace attnscope
