#include "core/autodiff/operations_linear.h"

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/tensor/matrix_product.h"

namespace attnscope {
namespace {

// Sizes of a batched product: C[b] [m, n] = A[b] [m, k] times B[b], which is stored as [k, n], or
// as [n, k] if `transposed`.
struct Sizes {
  Index batch = 1, m = 0, n = 0, k = 0;
  bool transposed = false;
};

void multiply_batch(Index batch, const Matrix& a, const Matrix& b, float* c, bool add) {
  const auto multiply_item = [&](Index i) {
    Matrix x = a, y = b;
    x.data += i * x.rows * x.columns;
    y.data += i * y.rows * y.columns;
    multiply_matrices(x, y, c + i * x.rows * y.columns, y.columns, add);
  };
  if (batch == 1) return multiply_item(0);
  parallel_for(batch, 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) multiply_item(i);
  });
}

// A dense matrix as stored, [rows, columns], or its transpose.
Matrix dense(const float* data, Index rows, Index columns, bool transposed = false) {
  return transposed ? Matrix{data, columns, rows, columns, true}
                    : Matrix{data, rows, columns, columns, false};
}

Matrix stored_b(const Tensor& b, const Sizes& s, bool transposed) {
  return s.transposed ? dense(b.data(), s.n, s.k, transposed)
                      : dense(b.data(), s.k, s.n, transposed);
}

Sizes sizes_of(const char* name, const Var& a, const Var& b, bool transposed) {
  const auto shape_error = [&] {
    return InputError(std::string(name) + " of " + to_string(a.shape()) + " and " +
                      to_string(b.shape()) + ": incompatible shapes");
  };
  if (a.rank() < 1 || b.rank() < 2 || b.rank() > 3) throw shape_error();
  Sizes s;
  s.transposed = transposed;
  s.k = b.dim(transposed ? -1 : -2);
  s.n = b.dim(transposed ? -2 : -1);
  if (a.dim(-1) != s.k) throw shape_error();
  if (b.rank() == 3) {
    if (a.rank() != 3 || a.dim(0) != b.dim(0)) throw shape_error();
    s.batch = a.dim(0);
    s.m = a.dim(1);
  } else {
    s.m = 1;
    for (Index axis = 0; axis + 1 < a.rank(); ++axis) s.m *= a.dim(axis);
  }
  return s;
}

Var record_product(const char* name, const Var& a, const Var& b, bool transposed) {
  const Sizes s = sizes_of(name, a, b, transposed);
  Shape shape = a.shape();
  shape.back() = s.n;
  Tensor result(std::move(shape));  // [..., m, n]
  multiply_batch(s.batch, dense(a.value().data(), s.m, s.k), stored_b(b.value(), s, transposed),
                 result.data(), false);
  return record(name, std::move(result), {a, b},
                [s](const Tensor& gradient, const std::vector<Var>& inputs) {
                  const Tensor &x = inputs[0].value(), &w = inputs[1].value();
                  const float* g = gradient.data();
                  accumulate_with(inputs[0], [&](Tensor& to, bool fresh) {  // g B^T: [m, k]
                    multiply_batch(s.batch, dense(g, s.m, s.n), stored_b(w, s, !s.transposed),
                                   to.data(), !fresh);
                  });
                  accumulate_with(inputs[1], [&](Tensor& to, bool fresh) {
                    if (s.transposed) {  // g^T A: [n, k]
                      multiply_batch(s.batch, dense(g, s.m, s.n, true), dense(x.data(), s.m, s.k),
                                     to.data(), !fresh);
                    } else {  // A^T g: [k, n]
                      multiply_batch(s.batch, dense(x.data(), s.m, s.k, true), dense(g, s.m, s.n),
                                     to.data(), !fresh);
                    }
                  });
                });
}

}  // namespace

Var matmul(const Var& a, const Var& b) {
  return record_product("matmul", a, b, false);
}

Var matmul_transposed(const Var& a, const Var& b) {
  return record_product("matmul_transposed", a, b, true);
}

}  // namespace attnscope
