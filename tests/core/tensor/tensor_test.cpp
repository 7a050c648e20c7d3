#include "core/tensor/tensor.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.h"
#include "core/tensor/storage.h"

namespace attnscope {
namespace {

TEST(Shape, CountsElements) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({2, 0, 4}), 0);
  constexpr Index huge = std::numeric_limits<Index>::max();
  EXPECT_EQ(element_count({huge, huge, 0}), 0);
  EXPECT_THROW(element_count({huge, 2}), InputError);
  EXPECT_THROW(element_count({2, -1}), InputError);
  EXPECT_THROW(Tensor({huge / 2}), InputError);
  EXPECT_EQ(to_string(Shape{4, 9, 16}), "[4, 9, 16]");
  EXPECT_EQ(to_string(Shape{}), "[]");
}

TEST(Tensor, StartsUndefined) {
  const Tensor t;
  EXPECT_FALSE(t.defined());
  EXPECT_TRUE(t.empty());
  EXPECT_EQ(t.rank(), 0);
  EXPECT_FALSE(t.copy().defined());
}

TEST(Tensor, IsRowMajor) {
  const Tensor t = Tensor::from({2, 3}, {0, 1, 2, 10, 11, 12});
  EXPECT_EQ(t(1, 2), 12);
  EXPECT_EQ(t[3], 10);
  EXPECT_EQ(t.dim(-1), 3);
  EXPECT_THROW(Tensor::from({2, 2}, {1, 2, 3}), InputError);
}

TEST(Tensor, SharesUntilCopied) {
  Tensor a = Tensor::zeros({2, 2});
  Tensor b = a, c = a.copy();
  a[0] = 5;
  EXPECT_EQ(b[0], 5);
  EXPECT_EQ(c[0], 0);
  EXPECT_EQ(a.reshaped({4}).data(), a.data());
  EXPECT_THROW(a.reshaped({3}), InputError);
}

TEST(Tensor, SlicesRows) {
  const Tensor t = Tensor::from({3, 2}, {0, 1, 2, 3, 4, 5});
  const Tensor rows = t.slice(1, 2);
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_EQ(rows[0], 2);
  EXPECT_EQ(t.slice(3, 0).size(), 0);
  EXPECT_THROW(t.slice(2, 2), InputError);
  EXPECT_THROW(t.slice(-1, 1), InputError);
  EXPECT_THROW(Tensor::zeros({}).slice(0, 1), InputError);
}

TEST(Tensor, MayBeEmptyAndDefined) {
  const Tensor t({0, 4});
  EXPECT_TRUE(t.defined());
  EXPECT_TRUE(t.empty());
  EXPECT_EQ(t.slice(0, 0).size(), 0);
}

TEST(Tensor, IsAligned) {
  for (const Index n : {1, 17, 1000, 3'000'000}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Tensor({n}).data()) % kStorageAlignment, 0u);
  }
}

}  // namespace
}  // namespace attnscope
