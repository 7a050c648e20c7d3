#include "core/autodiff/var.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/tensor/storage.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::random_tensor;

TEST(Var, SumsGradientsOverAllPaths) {
  const Var x = Var::parameter(Tensor::from({2}, {3, 5}));
  const Var y = multiply(x, x);
  backward(sum(add(y, add(x, y))));  // 2 x^2 + x
  EXPECT_TRUE(testing::close(x.gradient(), Tensor::from({2}, {13, 21})));
}

TEST(Var, AccumulatesGradients) {
  const Var x = Var::parameter(Tensor::from({1}, {3}));
  backward(sum(scale(x, 2)));
  const Tensor first = x.gradient();
  backward(sum(scale(x, 4)));
  EXPECT_EQ(x.gradient()[0], 6);
  EXPECT_EQ(first[0], 2) << "an earlier copy of the gradient was overwritten";
  Var(x).clear_gradient();
  EXPECT_FALSE(x.gradient().defined());
}

// add() passes the same gradient tensor to both operands. Accumulation into one must not change the
// other.
TEST(Var, DoesNotMixGradientsThatShareMemory) {
  const Var x = Var::parameter(Tensor::from({2}, {1, 2}));
  const Var y = Var::parameter(Tensor::from({2}, {3, 4}));
  backward(sum(add(add(x, y), scale(x, 10))));
  EXPECT_TRUE(testing::close(x.gradient(), Tensor::from({2}, {11, 11})));
  EXPECT_TRUE(testing::close(y.gradient(), Tensor::from({2}, {1, 1})));
}

TEST(Var, ComputesNoGradientForConstants) {
  const Var x = Var::parameter(Tensor::from({1}, {3}));
  const Var c = Tensor::from({1}, {2});
  const Var y = multiply(x, c);
  EXPECT_TRUE(y.requires_gradient());
  EXPECT_FALSE(multiply(c, c).requires_gradient());
  backward(sum(y));
  EXPECT_FALSE(c.gradient().defined());
  backward(sum(c));  // nothing to do
}

TEST(Var, RejectsNonScalarLossesAndRepeatedBackward) {
  const Var x = Var::parameter(Tensor::zeros({2}));
  EXPECT_THROW(backward(x), InputError);
  EXPECT_THROW(record("no such operation", Tensor::zeros({1}), {}, nullptr), std::logic_error);
  EXPECT_THROW(accumulate(x, Tensor::zeros({3})), InputError);
  const Var y = exp(x), loss = sum(y);
  backward(loss);
  EXPECT_THROW(backward(loss), std::logic_error);
  EXPECT_THROW(backward(sum(y)), std::logic_error);
}

TEST(Var, TraversesLongTapesWithoutRecursion) {
  const Var x = Var::parameter(Tensor::from({1}, {1}));
  Var y = x;
  for (int i = 0; i < 200'000; ++i) y = scale(y, 1);
  backward(y);
  EXPECT_EQ(x.gradient()[0], 1);
  for (int i = 0; i < 200'000; ++i) y = scale(i == 0 ? x : y, 1);
  y = Var();  // frees a long tape that had no backward pass
}

TEST(Var, FreesTapeDuringBackward) {
  const Var x = Var::parameter(Tensor::full({1000}, 0.5f));
  const std::size_t initial_bytes = storage_statistics().live_bytes;
  {
    Var y = x;
    for (int i = 0; i < 100; ++i) y = multiply(y, x);
    const Var loss = sum(y);
    y = Var();
    const std::size_t tape_bytes = storage_statistics().live_bytes - initial_bytes;
    EXPECT_GE(tape_bytes, 100u * 4000u);
    backward(loss);
    EXPECT_LE(storage_statistics().live_bytes - initial_bytes, 3u * 4096u);
  }
}

// A small network of constants, as in inference.
Var network(const Var& x, const Var& w) {
  const Var heads = split_heads(matmul(x, w), 4);
  const Var scores = softmax(matmul_transposed(heads, heads));
  return log_softmax(rms_norm(merge_heads(matmul(scores, heads), 4), Tensor::full({64}, 1), 1e-5));
}

TEST(Var, AllocatesNothingForGradientsWithoutParameters) {
  const Tensor x = random_tensor({2, 33, 64}, 1), w = random_tensor({64, 64}, 2, 0.1);
  const std::size_t initial_bytes = storage_statistics().live_bytes;
  {
    const Var y = network(x, w);
    EXPECT_FALSE(y.requires_gradient());
    EXPECT_EQ(y.node(), nullptr);
    const std::size_t result_bytes = static_cast<std::size_t>(y.value().size()) * sizeof(float);
    EXPECT_LE(storage_statistics().live_bytes - initial_bytes,
              result_bytes + result_bytes / 16 + 64);
  }
  EXPECT_EQ(storage_statistics().live_bytes, initial_bytes);
}

#ifndef __SANITIZE_ADDRESS__  // with AddressSanitizer every block is fresh
TEST(Var, ReusesMemoryOfPreviousRun) {
  const Tensor x = random_tensor({2, 33, 64}, 1), w = random_tensor({64, 64}, 2, 0.1);
  network(x, w);
  const StorageStatistics first_run = storage_statistics();
  network(x, w);
  const StorageStatistics second_run = storage_statistics();
  EXPECT_EQ(second_run.fresh_blocks, first_run.fresh_blocks);
  EXPECT_GT(second_run.reused_blocks, first_run.reused_blocks);
}
#endif

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
