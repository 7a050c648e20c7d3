// C = A B for row-major matrices in memory, over all cores.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

// A matrix inside an array. Where `transposed`, memory holds the transposed matrix: [columns,
// rows], each of its rows `stride` numbers after the one before.
struct Matrix {
  const float* data = nullptr;
  Index rows = 0, columns = 0;
  Index stride = 0;
  bool transposed = false;
};

// c: [a.rows, b.columns], rows `c_stride` numbers apart; where `add`, the product is added to
// it. c overlaps neither a nor b. a.columns == b.rows. Sums of no terms are 0.
void multiply_matrices(const Matrix& a, const Matrix& b, float* c, Index c_stride, bool add);

}  // namespace attnscope
