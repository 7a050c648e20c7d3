// Matrices of 16-bit numbers, as stored in files. Products widen them block by block, with the same
// results as after widening the whole matrix, so that a model needs no more memory than its file.
#pragma once

#include <cstdint>
#include <memory>

#include "core/tensor/matrix_product.h"

namespace attnscope {

struct NarrowMatrix {
  enum class Kind { F16, BF16 };

  Kind kind = Kind::F16;
  Index rows = 0, columns = 0;
  // Memory holds [rows, columns], or [columns, rows] if `transposed`; consecutive rows in memory
  // are `stride` numbers apart.
  Index stride = 0;
  bool transposed = false;
  const std::uint8_t* bytes = nullptr;
  std::shared_ptr<const void> owner;  // keeps bytes alive

  NarrowMatrix transpose() const;                             // shares the bytes
  NarrowMatrix column_range(Index first, Index count) const;  // shares the bytes
  void row(Index r, float* to) const;                         // to: [columns]
  Tensor to_tensor() const;                                   // [rows, columns], as float32
  // Converts `count` numbers of row `line` in memory, starting at `first`.
  void widen(Index line, Index first, Index count, float* to) const;
};

// See matrix_product.h.
void multiply_matrices(const Matrix& a, const NarrowMatrix& b, float* c, Index c_stride, bool add);

}  // namespace attnscope
