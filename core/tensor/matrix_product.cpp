#include "core/tensor/matrix_product.h"

#include <Eigen/Core>
#include <algorithm>

#include "core/base/parallel.h"

namespace attnscope {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>;
using Map = Eigen::Map<RowMajor, 0, Eigen::OuterStride<>>;

constexpr Index kWorthThreads = Index{1} << 18;  // multiplications
constexpr Index kBlock = 48;                     // rows or columns; a multiple of Eigen's tiles

ConstMap stored(const Matrix& m) {
  return {m.data, m.transposed ? m.columns : m.rows, m.transposed ? m.rows : m.columns,
          Eigen::OuterStride<>(m.stride)};
}

template <class A, class B>
void multiply_into(const A& a, const B& b, Map& c, bool add) {
  if (add) {
    c.noalias() += a * b;
  } else {
    c.noalias() = a * b;
  }
}

void multiply_here(const Matrix& a, const Matrix& b, float* c, Index c_stride, bool add) {
  Map result(c, a.rows, b.columns, Eigen::OuterStride<>(c_stride));
  const ConstMap x = stored(a), y = stored(b);
  if (a.transposed && b.transposed) {
    multiply_into(x.transpose(), y.transpose(), result, add);
  } else if (a.transposed) {
    multiply_into(x.transpose(), y, result, add);
  } else if (b.transposed) {
    multiply_into(x, y.transpose(), result, add);
  } else {
    multiply_into(x, y, result, add);
  }
}

Matrix row_block(Matrix m, Index first, Index last) {
  m.data += m.transposed ? first : first * m.stride;
  m.rows = last - first;
  return m;
}

Matrix column_block(Matrix m, Index first, Index last) {
  m.data += m.transposed ? first * m.stride : first;
  m.columns = last - first;
  return m;
}

// One range for each thread: every range packs the other operand anew.
Index grain(Index count) {
  const Index blocks = (count + kBlock - 1) / kBlock, threads = thread_count();
  return (blocks + threads - 1) / threads * kBlock;
}

}  // namespace

void multiply_matrices(const Matrix& a, const Matrix& b, float* c, Index c_stride, bool add) {
  const Index m = a.rows, n = b.columns;
  if (m == 0 || n == 0) return;
  if (m * n * a.columns < kWorthThreads) {
    multiply_here(a, b, c, c_stride, add);
  } else if (m >= n) {
    parallel_for(m, grain(m), [&](Index first, Index last) {
      multiply_here(row_block(a, first, last), b, c + first * c_stride, c_stride, add);
    });
  } else {
    parallel_for(n, grain(n), [&](Index first, Index last) {
      multiply_here(a, column_block(b, first, last), c + first, c_stride, add);
    });
  }
}

}  // namespace attnscope
