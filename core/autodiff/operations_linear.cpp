#include "core/autodiff/operations_linear.h"

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/tensor/matrix_product.h"

namespace attnscope {
namespace {

// Sizes of a batched product: C[b] [m, n] = A[b] [m, k] times B[b], which is stored as [k, n], or
// as [n, k] if `is_transposed`.
struct ProductSizes {
  Index batch = 1, m = 0, n = 0, k = 0;
  bool is_transposed = false;
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
Matrix dense_matrix(const float* data, Index rows, Index columns, bool is_transposed = false) {
  return is_transposed ? Matrix{data, columns, rows, columns, true}
                       : Matrix{data, rows, columns, columns, false};
}

Matrix matrix_b(const Tensor& b, const ProductSizes& s, bool is_transposed) {
  return s.is_transposed ? dense_matrix(b.data(), s.n, s.k, is_transposed)
                         : dense_matrix(b.data(), s.k, s.n, is_transposed);
}

ProductSizes product_sizes(const char* name, const Var& a, const Var& b, bool is_transposed) {
  const auto shape_error = [&] {
    return InputError(std::string(name) + " of " + to_string(a.shape()) + " and " +
                      to_string(b.shape()) + ": incompatible shapes");
  };
  if (a.rank() < 1 || b.rank() < 2 || b.rank() > 3) throw shape_error();
  ProductSizes s;
  s.is_transposed = is_transposed;
  s.k = b.dim(is_transposed ? -1 : -2);
  s.n = b.dim(is_transposed ? -2 : -1);
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

Var record_product(const char* name, const Var& a, const Var& b, bool is_transposed) {
  const ProductSizes s = product_sizes(name, a, b, is_transposed);
  Shape shape = a.shape();
  shape.back() = s.n;
  Tensor result(std::move(shape));  // [..., m, n]
  multiply_batch(s.batch, dense_matrix(a.value().data(), s.m, s.k),
                 matrix_b(b.value(), s, is_transposed), result.data(), false);
  return record(name, std::move(result), {a, b},
                [s](const Tensor& gradient, const std::vector<Var>& inputs) {
                  const Tensor &x = inputs[0].value(), &w = inputs[1].value();
                  const float* g = gradient.data();
                  accumulate_with(inputs[0], [&](Tensor& to, bool overwrite) {  // g B^T: [m, k]
                    multiply_batch(s.batch, dense_matrix(g, s.m, s.n),
                                   matrix_b(w, s, !s.is_transposed), to.data(), !overwrite);
                  });
                  accumulate_with(inputs[1], [&](Tensor& to, bool overwrite) {
                    if (s.is_transposed) {  // g^T A: [n, k]
                      multiply_batch(s.batch, dense_matrix(g, s.m, s.n, true),
                                     dense_matrix(x.data(), s.m, s.k), to.data(), !overwrite);
                    } else {  // A^T g: [k, n]
                      multiply_batch(s.batch, dense_matrix(x.data(), s.m, s.k, true),
                                     dense_matrix(g, s.m, s.n), to.data(), !overwrite);
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
