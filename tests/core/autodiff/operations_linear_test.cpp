#include "core/autodiff/operations_linear.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::random_tensor;

TEST(Matmul, MultipliesBatches) {
  const Tensor a = random_tensor({3, 2, 5}, 1), b = random_tensor({3, 5, 4}, 2);
  const Tensor c = matmul(a, b).value();
  ASSERT_EQ(c.shape(), (Shape{3, 2, 4}));
  for (Index i = 0; i < 3; ++i) {
    const Var product = matmul(a.slice(i, 1).reshaped({2, 5}), b.slice(i, 1).reshaped({5, 4}));
    EXPECT_TRUE(testing::close(c.slice(i, 1).reshaped({2, 4}), product.value(), 1e-6));
  }
}

TEST(Matmul, AcceptsTransposedOperand) {
  const Tensor a = random_tensor({2, 7, 5}, 1), b = random_tensor({5, 4}, 2);
  Tensor transposed({4, 5});
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 4; ++j) transposed(j, i) = b(i, j);
  }
  EXPECT_TRUE(testing::close(matmul_transposed(a, transposed).value(), matmul(a, b).value(), 1e-6));
}

TEST(Matmul, RejectsIncompatibleShapes) {
  const auto zeros = [](Shape shape) { return Var(Tensor::zeros(std::move(shape))); };
  EXPECT_THROW(matmul(zeros({2, 3}), zeros({4, 5})), InputError);
  EXPECT_THROW(matmul(zeros({2, 3}), zeros({3})), InputError);
  EXPECT_THROW(matmul(zeros({2, 3}), zeros({2, 3, 4})), InputError);
  EXPECT_THROW(matmul(zeros({1, 2, 3}), zeros({2, 3, 4})), InputError);
  EXPECT_THROW(matmul_transposed(zeros({2, 3}), zeros({3, 4})), InputError);
  EXPECT_EQ(matmul(zeros({0, 3}), zeros({3, 4})).shape(), (Shape{0, 4}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
