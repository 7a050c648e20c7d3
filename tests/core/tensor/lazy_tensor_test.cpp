#include "core/tensor/lazy_tensor.h"

#include <gtest/gtest.h>

#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

const Tensor kNumbers = testing::random_tensor({5, 3, 2}, 1);

LazyTensor computed(int* calls) {
  return {kNumbers.shape(), [calls](Index first, Index count) {
            ++*calls;
            return kNumbers.slice(first, count).copy();
          }};
}

TEST(LazyTensor, ComputesOnlyTheRowsThatAreRead) {
  int calls = 0;
  const LazyTensor lazy = computed(&calls);
  EXPECT_TRUE(lazy.defined());
  EXPECT_FALSE(lazy.kept().defined());
  EXPECT_EQ(lazy.shape(), (Shape{5, 3, 2}));
  EXPECT_EQ(lazy.rank(), 3);
  EXPECT_EQ(lazy.dim(-1), 2);
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(testing::close(lazy.rows(1, 3), kNumbers.slice(1, 3), 0));
  EXPECT_TRUE(testing::close(lazy.row(4), kNumbers.slice(4, 1).reshaped({3, 2}), 0));
  EXPECT_TRUE(testing::close(lazy, kNumbers, 0));
  EXPECT_EQ(calls, 3);
}

TEST(LazyTensor, SharesKeptNumbers) {
  const LazyTensor lazy = kNumbers;
  EXPECT_EQ(lazy.kept().data(), kNumbers.data());
  EXPECT_EQ(lazy.value().data(), kNumbers.data());
  EXPECT_EQ(lazy.rows(2, 2).data(), kNumbers.slice(2, 2).data());
  EXPECT_TRUE(testing::close(lazy.row(2), kNumbers.slice(2, 1).reshaped({3, 2}), 0));
  EXPECT_FALSE(LazyTensor().defined());
  EXPECT_FALSE(LazyTensor(Tensor()).defined());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
