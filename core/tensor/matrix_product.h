// Matrix product C = A B of row-major matrices in memory, on all cores.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

// A view of a matrix. Memory holds [rows, columns], or [columns, rows] if `transposed`; consecutive
// rows in memory are `stride` numbers apart.
struct Matrix {
  const float* data = nullptr;
  Index rows = 0, columns = 0;
  Index stride = 0;
  bool transposed = false;
};

// Minimum number of rows of A for which each row of C depends only on that row of A and on B.
// Products with fewer rows sum in another order.
inline constexpr Index kMinPanelRows = 4;

// c: [a.rows, b.columns], rows `c_stride` numbers apart, without overlap with a or b. Overwrites c,
// or adds to it if `add`. Requires a.columns == b.rows; if both are 0, the product is 0.
void multiply_matrices(const Matrix& a, const Matrix& b, float* c, Index c_stride, bool add);

}  // namespace attnscope
