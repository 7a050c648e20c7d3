#include "core/tensor/lazy_tensor.h"

namespace attnscope {

LazyTensor::LazyTensor(Shape shape, Rows rows) : shape_(std::move(shape)), rows_(std::move(rows)) {
  ensure(rank() > 0);
}

Tensor LazyTensor::rows(Index first, Index count) const {
  if (kept_.defined()) return kept_.slice(first, count);
  ensure(defined() && first >= 0 && count >= 0 && first + count <= dim(0));
  return rows_(first, count);
}

Tensor LazyTensor::row(Index index) const {
  return rows(index, 1).reshaped({shape_.begin() + 1, shape_.end()});
}

Tensor LazyTensor::value() const {
  return rows_ == nullptr ? kept_ : rows(0, dim(0));
}

}  // namespace attnscope
