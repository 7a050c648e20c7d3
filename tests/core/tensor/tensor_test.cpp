#include "core/tensor/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/tensor/device_tensor.h"
#include "core/tensor/storage.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

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

TEST(Tensor, CanBeEmptyAndDefined) {
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

TEST(Shape, RejectsSizesBeyondAddressSpace) {
  constexpr Index most = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(float));
  EXPECT_THROW(Tensor({most + 1}), InputError);
  EXPECT_THROW(Tensor({most}), WorkError) << "a valid size, but more than the available memory";
}

// The tensor is filled in chunks, of which the last one is shorter.
TEST(Tensor, FillsCompletely) {
  const Index size = (Index{1} << 23) + 5;
  const ByteTensor t = ByteTensor::full({size}, 7);
  EXPECT_EQ(std::count(t.begin(), t.end(), 7), size);
}

TEST(Tensor, ReportsRowsOutOfRange) {
  const Tensor t({3, 2});
  try {
    t.slice(2, 3);
    ADD_FAILURE() << "rows beyond the last one";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "rows 2 to 5 of an array of shape [3, 2]");
  }
  EXPECT_THROW(t.slice(0, -1), InputError);
  EXPECT_EQ(t.slice(1, 0).shape(), (Shape{0, 2}));
}

// Reads every third row of a plane, as views do with device tensors.
TEST(Tensor, ReturnsRowsOfPlane) {
  class HostTensor : public DeviceTensor {
   public:
    explicit HostTensor(Tensor tensor) : tensor_(std::move(tensor)) {}
    Shape shape() const override { return tensor_.shape(); }
    Tensor download() const override { return tensor_; }

   private:
    Tensor tensor_;
  };
  Tensor tensor({3, 8, 5});
  for (Index i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<float>(i);
  for (const Index plane : {0, 1, 2}) {
    for (const Tensor& rows :
         {rows_of(tensor, plane, 1, 3, 3), HostTensor(tensor).rows(plane, 1, 3, 3)}) {
      ASSERT_EQ(rows.shape(), (Shape{3, 5}));
      for (Index n = 0; n < 3; ++n) {
        for (Index c = 0; c < 5; ++c) EXPECT_EQ(rows(n, c), tensor(plane, 1 + 3 * n, c));
      }
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
