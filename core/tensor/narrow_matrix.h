// Matrices in the number format of their file: 16 bits, or quantised blocks. Products decode a
// matrix piece by piece, so that a model needs no more memory than its file. Results equal those of
// products with the whole decoded matrix.
#pragma once

#include <cstdint>
#include <memory>

#include "core/tensor/matrix_product.h"
#include "core/tensor/stored_tensor.h"

namespace attnscope {

struct NarrowMatrix {
  DType dtype = DType::F16;  // F16, BF16 or a quantised format
  Index rows = 0, columns = 0;
  // Memory holds [rows, columns], or [columns, rows] if `transposed`; consecutive rows in memory
  // are `stride` numbers apart, a multiple of block_size(dtype). The first row begins `offset`
  // numbers after `bytes`.
  Index stride = 0, offset = 0;
  bool transposed = false;
  const std::uint8_t* bytes = nullptr;
  std::shared_ptr<const void> owner;  // keeps bytes alive
  Index interleaved_rows = 0;         // order of the rows in memory, see stored_row()

  NarrowMatrix transpose() const;                             // shares the bytes
  NarrowMatrix column_range(Index first, Index count) const;  // shares the bytes
  void row(Index r, float* to) const;                         // to: [columns]
  Tensor to_tensor() const;                                   // [rows, columns], as float32
  // Decodes numbers [first, first + count) of row `line` of the stored matrix.
  void widen(Index line, Index first, Index count, float* to) const;
  // True if each row of the stored matrix consists of whole quantised blocks.
  bool has_block_rows() const;
  // Adds the dot product of x with row `line` of the stored matrix to to[line], for lines in
  // [first, last). Requires has_block_rows(). Returns early if is_stopping().
  void add_dots(Index first, Index last, const float* x, float* to) const;

 private:
  Index first_number(Index line) const;  // index in memory of the first number of a stored row
};

// See matrix_product.h.
void multiply_matrices(const Matrix& a, const NarrowMatrix& b, float* c, Index c_stride, bool add);

}  // namespace attnscope
