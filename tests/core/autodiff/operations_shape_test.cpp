#include "core/autodiff/operations_shape.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::random_tensor;

TEST(Permute, MovesAxes) {
  const Tensor x = random_tensor({2, 3, 5}, 1);
  const Tensor y = permute(x, {2, 0, 1}).value();
  ASSERT_EQ(y.shape(), (Shape{5, 2, 3}));
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 3; ++j) {
      for (Index k = 0; k < 5; ++k) EXPECT_EQ(y(k, i, j), x(i, j, k));
    }
  }
  EXPECT_THROW(permute(x, {0, 1}), InputError);
  EXPECT_THROW(permute(x, {0, 1, 1}), InputError);
  EXPECT_THROW(permute(x, {0, 1, 3}), InputError);
}

TEST(Heads, SplitAndMergeAreInverse) {
  const Tensor x = random_tensor({2, 3, 8}, 1);
  const Tensor y = split_heads(x, 4).value();
  ASSERT_EQ(y.shape(), (Shape{8, 3, 2}));
  for (Index b = 0; b < 2; ++b) {
    for (Index head = 0; head < 4; ++head) {
      for (Index i = 0; i < 3; ++i) {
        for (Index c = 0; c < 2; ++c) EXPECT_EQ(y(b * 4 + head, i, c), x(b, i, head * 2 + c));
      }
    }
  }
  EXPECT_TRUE(testing::close(merge_heads(y, 4).value(), x, 0));
  EXPECT_THROW(split_heads(x, 3), InputError);
  EXPECT_THROW(split_heads(x, 0), InputError);
  EXPECT_THROW(merge_heads(y, 3), InputError);
}

TEST(Concat, JoinsAndSliceSplits) {
  const Tensor a = random_tensor({2, 3, 4}, 1), b = random_tensor({2, 1, 4}, 2);
  const Var joined = concat({a, b}, 1);
  EXPECT_EQ(joined.shape(), (Shape{2, 4, 4}));
  EXPECT_TRUE(testing::close(slice(joined, 1, 0, 3).value(), a, 0));
  EXPECT_TRUE(testing::close(slice(joined, -2, 3, 1).value(), b, 0));
  EXPECT_EQ(slice(joined, 1, 4, 0).shape(), (Shape{2, 0, 4}));
  EXPECT_EQ(slice(joined, 0, 1, 1).value().data(), joined.value().data() + 16)
      << "slice() copied its rows";
  EXPECT_THROW(concat({a, b}, 0), InputError);
  EXPECT_THROW(concat({}, 0), InputError);
  EXPECT_THROW(slice(joined, 1, 2, 3), InputError);
  EXPECT_THROW(slice(joined, 3, 0, 1), InputError);
}

TEST(Gather, LooksUpRows) {
  const Tensor table = random_tensor({3, 2}, 1);
  const Tensor rows = gather(table, IntTensor::from({1, 2}, {2, 0})).value();
  EXPECT_EQ(rows.shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(rows(0, 0, 1), table(2, 1));
  EXPECT_EQ(rows(0, 1, 0), table(0, 0));
  EXPECT_THROW(gather(table, IntTensor::from({1}, {3})), InputError);
  EXPECT_THROW(gather(table, IntTensor::from({1}, {-1})), InputError);
}

TEST(Rotate, RotatesPairs) {
  const float angle = 0.3f;
  const Tensor c = Tensor::full({1, 2}, std::cos(angle)), s = Tensor::full({1, 2}, std::sin(angle));
  const Tensor x = Tensor::from({1, 5}, {1, 2, 3, 4, 5});
  const auto rotated = [&](double a, double b) {
    return std::pair(a * std::cos(0.3) - b * std::sin(0.3), a * std::sin(0.3) + b * std::cos(0.3));
  };
  const Tensor interleaved = rotate(x, c, s, true).value(), halves = rotate(x, c, s, false).value();
  EXPECT_NEAR(interleaved[0], rotated(1, 2).first, 1e-6);
  EXPECT_NEAR(interleaved[3], rotated(3, 4).second, 1e-6);
  EXPECT_NEAR(halves[0], rotated(1, 3).first, 1e-6);
  EXPECT_NEAR(halves[2], rotated(1, 3).second, 1e-6);
  EXPECT_NEAR(halves[3], rotated(2, 4).second, 1e-6);
  EXPECT_EQ(interleaved[4], 5);
  EXPECT_EQ(halves[4], 5);
  EXPECT_THROW(rotate(x, Tensor({1, 3}), Tensor({1, 3}), true), InputError);
  EXPECT_THROW(rotate(x, Tensor({2, 2}), Tensor({2, 2}), true), InputError);
}

TEST(Axes, CountFromBothEnds) {
  const Tensor x = random_tensor({2, 4, 3}, 1);
  EXPECT_EQ(slice(x, -3, 0, 1).shape(), (Shape{1, 4, 3}));
  EXPECT_THROW(slice(x, -4, 0, 1), InputError);
  EXPECT_THROW(slice(x, 1, -1, 1), InputError);
  EXPECT_THROW(slice(x, 1, 0, -1), InputError);
  EXPECT_EQ(slice(x, 1, 0, 4).shape(), (Shape{2, 4, 3}));
  EXPECT_THROW(concat({x, random_tensor({2, 4}, 2)}, 1), InputError);
  EXPECT_THROW(transpose(random_tensor({3}, 1)), InputError);
}

TEST(Axes, CanBeEmpty) {
  const Tensor empty = Tensor::zeros({2, 0});
  EXPECT_EQ(concat({empty, empty}, 0).shape(), (Shape{4, 0}));
  EXPECT_EQ(permute(Tensor::zeros({2, 0, 3}), {2, 0, 1}).shape(), (Shape{3, 2, 0}));
  EXPECT_EQ(permute(Tensor::zeros({2, 3, 0}), {1, 2, 0}).shape(), (Shape{3, 0, 2}));
  EXPECT_EQ(gather(empty, IntTensor::from({3}, {0, 1, 1})).shape(), (Shape{3, 0}));
  EXPECT_EQ(gather(Tensor::zeros({2, 3}), IntTensor({0})).shape(), (Shape{0, 3}));
  EXPECT_EQ(rotate(empty, Tensor({2, 0}), Tensor({2, 0}), true).shape(), (Shape{2, 0}));
}

// Tests every order of axes, with more rows than one thread's share.
TEST(Permute, MovesManyRows) {
  const Tensor x = random_tensor({130, 6, 45}, 1);
  for (const std::vector<Index>& axes :
       {std::vector<Index>{1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {2, 0, 1}, {1, 2, 0}, {0, 1, 2}}) {
    const Tensor y = permute(x, axes).value();
    Index index[3];
    for (index[0] = 0; index[0] < 130; ++index[0]) {
      for (index[1] = 0; index[1] < 6; ++index[1]) {
        for (index[2] = 0; index[2] < 45; ++index[2]) {
          ASSERT_EQ(y(index[axes[0]], index[axes[1]], index[axes[2]]),
                    x(index[0], index[1], index[2]));
        }
      }
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
