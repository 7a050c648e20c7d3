// Matrices of 16-bit numbers as files hold them. Products widen them piece by piece, with the same
// results as if they had been widened before, so that a large model takes no more memory than its
// file.
#pragma once

#include <cstdint>
#include <memory>

#include "core/tensor/matrix_product.h"

namespace attnscope {

struct NarrowMatrix {
  enum class Kind { F16, BF16 };

  Kind kind = Kind::F16;
  Index rows = 0, columns = 0;
  // Where `transposed`, memory holds the transposed matrix, [columns, rows]. A row of memory begins
  // `stride` numbers after the one before.
  Index stride = 0;
  bool transposed = false;
  const std::uint8_t* bytes = nullptr;
  std::shared_ptr<const void> owner;  // keeps bytes alive

  NarrowMatrix turned() const;                                // the transposed matrix
  NarrowMatrix column_range(Index first, Index count) const;  // shares the numbers
  void row(Index r, float* to) const;                         // to: [columns]
  Tensor widened() const;                                     // [rows, columns]
  // `count` numbers of row `line` of memory, from number `first` on.
  void widen(Index line, Index first, Index count, float* to) const;
};

// As for two matrices of float (matrix_product.h).
void multiply_matrices(const Matrix& a, const NarrowMatrix& b, float* c, Index c_stride, bool add);

}  // namespace attnscope
