#include "core/tensor/narrow_matrix.h"

#include "core/tensor/half.h"

namespace attnscope {

NarrowMatrix NarrowMatrix::transpose() const {
  NarrowMatrix result = *this;
  std::swap(result.rows, result.columns);
  result.transposed = !transposed;
  return result;
}

NarrowMatrix NarrowMatrix::column_range(Index first, Index count) const {
  NarrowMatrix result = *this;
  result.columns = count;
  result.bytes = bytes + 2 * first * (transposed ? stride : 1);
  return result;
}

void NarrowMatrix::row(Index r, float* to) const {
  if (!transposed) {
    widen(r, 0, columns, to);
    return;
  }
  for (Index c = 0; c < columns; ++c) widen(c, r, 1, to + c);
}

Tensor NarrowMatrix::to_tensor() const {
  Tensor result({rows, columns});
  for (Index r = 0; r < rows; ++r) row(r, result.data() + r * columns);
  return result;
}

void NarrowMatrix::widen(Index line, Index first, Index count, float* to) const {
  const std::uint8_t* from = bytes + 2 * (line * stride + first);
  if (kind == Kind::F16) {
    from_half(from, to, count);
  } else {
    from_bfloat(from, to, count);
  }
}

}  // namespace attnscope
