#include "core/tensor/matrix_product.h"

#include <gtest/gtest.h>

#include <array>

#include "core/base/parallel.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

double element(const Matrix& m, Index row, Index column) {
  return static_cast<double>(m.transposed ? m.data[column * m.stride + row]
                                          : m.data[row * m.stride + column]);
}

Tensor multiply_by_definition(const Matrix& a, const Matrix& b, const Tensor& initial, bool add) {
  Tensor c({a.rows, b.columns});
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < b.columns; ++j) {
      double sum = add ? static_cast<double>(initial(i, j)) : 0;
      for (Index t = 0; t < a.columns; ++t) sum += element(a, i, t) * element(b, t, j);
      c(i, j) = static_cast<float>(sum);
    }
  }
  return c;
}

// View of a matrix whose rows are stored with a gap of 3 elements after each.
Matrix matrix_in(const Tensor& memory, Index rows, Index columns, bool transposed) {
  return {memory.data(), rows, columns, (transposed ? rows : columns) + 3, transposed};
}

TEST(MatrixProduct, MatchesDefinition) {
  const std::vector<std::array<Index, 3>> sizes{
      {1, 1, 1},      {3, 5, 7},     {0, 4, 2},      {4, 0, 2},     {4, 3, 0},
      {1, 700, 500},  {150, 90, 65}, {65, 257, 130}, {3, 300, 900}, {300, 1100, 5},
      {520, 20, 600}, {5, 1100, 40}, {600, 40, 40}};
  const int threads = thread_count();
  for (const int n : {1, 2}) {
    set_thread_count(n);
    for (const auto& [rows, columns, inner] : sizes) {
      for (int flags = 0; flags < 8; ++flags) {
        const bool a_transposed = flags & 1, b_transposed = flags & 2, add = flags & 4;
        const Tensor memory_a = testing::random_tensor({(rows + 3) * (inner + 3)}, 1);
        const Tensor memory_b = testing::random_tensor({(columns + 3) * (inner + 3)}, 2);
        const Matrix a = matrix_in(memory_a, rows, inner, a_transposed);
        const Matrix b = matrix_in(memory_b, inner, columns, b_transposed);
        const Tensor initial = testing::random_tensor({rows, columns}, 3);
        Tensor c = initial.copy();
        multiply_matrices(a, b, c.data(), columns, add);
        EXPECT_TRUE(testing::close(c, multiply_by_definition(a, b, initial, add), 1e-5))
            << rows << " " << columns << " " << inner << " flags " << flags;
      }
    }
  }
  set_thread_count(threads);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
